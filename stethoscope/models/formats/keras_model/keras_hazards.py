"""Code and file access inside a Keras description, found by walking all of it: nothing is deserialised.

Everything that names a class or function must be Keras' own by exact module and name; a Lambda never is harmless.
Source: CVE-2024-3660, CVE-2025-1550, CVE-2025-8747, CVE-2025-9905, CVE-2025-9906, CVE-2025-12058, CVE-2025-49655.
"""

from __future__ import annotations

import builtins
import importlib.util
import re
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from importlib.machinery import PathFinder
from typing import Any

from stethoscope.models.containers import damage
from stethoscope.models.formats.keras_model.keras_builtins import (
    RUNS_CODE,
    is_arithmetic,
    is_arithmetic_node,
    is_builtin_class,
    is_builtin_function,
)
from stethoscope.models.formats.keras_model.keras_legacy import TAKEN_OUT
from stethoscope.models.hugging_face import AS_SAVED_MODEL
from stethoscope.types import Hazard

_words = re.compile(r"\w+").findall

_PLAIN = frozenset(
    _words(
        "__tensor__ __numpy__ __bytes__ __ellipsis__ __slice__ __tuple__ __set__ __complex__ __keras_tensor__ "
        "__typespec__ TensorShape CompositeTensor TypeSpec _dict"
    )
)
_VOCABULARY_LAYERS = frozenset({"StringLookup", "IntegerLookup", "TextVectorization", "IndexLookup"})
_OWN = frozenset({"keras", "tf_keras", "tensorflow"})
_MODEL_PARTS = frozenset(
    [
        "layers",
        "models",
        "activations",
        "initializers",
        "losses",
        "metrics",
        "optimizers",
        "regularizers",
        "constraints",
        "quantizers",
        "ops",
        "engine",
    ]
)
_PATH_KEYS = frozenset(
    {"filepath", "file_path", "path", "filename", "directory", "saved_model_path", "vocabulary_file", "handle"}
)
_FUNCTION_KINDS = frozenset({"function", "builtin_function_or_method", "ufunc", "type", "method"})


@dataclass(frozen=True)
class Foreign:
    """A class or function that is not part of Keras, and the layer that needs it."""

    name: str
    module: str
    where: str
    hazard: Hazard | None = None
    """What loading it could do, where a package that is installed here may have it."""

    @property
    def is_here(self) -> bool:
        """Whether Python could find something of this name here: then it is code that would run."""
        root = _root(self.module)
        if root in ("", "builtins", "__main__"):
            return hasattr(builtins, self.name)
        return not _may_be_newer(self.module) if root in _OWN else _importable(root)

    @property
    def is_lacking(self) -> bool:
        """Whether the model cannot get it from here, a yes or no: its package is not installed, or has no such module."""
        return not self.is_here or (
            _root(self.module) not in ("", "builtins", "__main__", *_OWN) and _absent(self.module)
        )


@dataclass(frozen=True)
class Inspection:
    """What `inspect_description` found. A name of something that is not here is no hazard: a file holds the name, not the code."""

    hazards: tuple[Hazard, ...]
    foreign: tuple[Foreign, ...]
    provided: tuple[str, ...] = ()
    """Names whose code was given beside the file."""


def inspect_description(*parts: Any, provided: Collection[str] = ()) -> Inspection:
    """Returns the hazards of a model's description and compile settings (any JSON values).

    Args:
        parts: what is looked through.
        provided: names of classes and functions whose code was given beside the file; they are neither hazard nor foreign.
    """
    hazards: dict[tuple[str, str, str], Hazard] = {}
    foreign: dict[tuple[str, str], Foreign] = {}
    given: dict[str, None] = {}
    for part in parts:
        for found in _walk(part):
            hazard = found if isinstance(found, Hazard) else found.hazard
            if isinstance(found, Foreign):
                name = found.name.rsplit(">", 1)[-1]
                if name in provided:
                    given[name] = None
                    continue
                foreign.setdefault((found.module, found.name), found)
                hazard = hazard if found.is_here else None
            if hazard is not None:
                # A Lambda layer and the bytecode inside it are one thing to whoever decides about it.
                message = "" if hazard.rule == "lambda" else hazard.message
                hazards.setdefault((hazard.rule, hazard.where, message), hazard)
    return Inspection(tuple(hazards.values()), tuple(foreign.values()), tuple(given))


def not_installed(foreign: tuple[Foreign, ...], code: str = "", *, keras_1: bool = False) -> str:
    """Returns one sentence naming the first class that no installed package can provide, or "".

    Args:
        foreign: what is needed.
        code: what the Python file is called that was given, and has none of them.
        keras_1: whether Keras 1 wrote the file.
    """
    for need in foreign:
        if not need.is_lacking:
            continue
        if _root(need.module) in _OWN:
            return f"It needs {need.module}.{need.name} (in {need.where!r}), which the installed Keras does not have. Update Keras, or convert the model."
        if keras_1 and need.name in TAKEN_OUT:
            return (
                f"It has {need.name} (in {need.where!r}), a layer of Keras 1 that Keras 2 took out. It computes {TAKEN_OUT[need.name]}: "
                f"write it as a Keras 2 layer of that name, and give that Python file (--code)."
            )
        lacking = f"and {code} does not define it" if code else "the file holds the name, not the code"
        helps = AS_SAVED_MODEL if _root(need.module) == "transformers" else GIVE_CODE if keras_1 else WHAT_HELPS
        return f"It names {described(need)}, which is not part of Keras: {lacking}. {helps}"
    return ""


GIVE_CODE = "Give the Python file that defines it (--code)."
"""Keras 1 has no way to export a model."""
WHAT_HELPS = (
    "Give the Python file that defines it (--code), or call model.export() "
    "where it runs and give the SavedModel, which needs no code."
)


def described(need: Foreign) -> str:
    """What is missing, and for which layer."""
    source = f" of {need.module!r}" if _root(need.module) not in ("", "builtins", "__main__") else ""
    return f"{need.name!r}{source} (in {need.where!r})"


def _root(module: str | None) -> str:
    return (module or "").split(".")[0]


def _may_be_newer(module: str | None) -> bool:
    """Whether an unknown class is from a part of Keras that holds model classes: then a newer Keras may have it."""
    return any(part in _MODEL_PARTS for part in (module or "").split("."))


def _importable(root: str) -> bool:
    try:
        return importlib.util.find_spec(root) is not None
    except (ImportError, ValueError):
        return False


def _absent(module: str) -> bool:
    """Whether an installed package has no such module: its folders are looked through, and nothing of it is run."""
    place: Sequence[str] | None = None
    parts = module.split(".")
    for count in range(1, len(parts) + 1):
        name = ".".join(parts[:count])
        try:
            spec = PathFinder.find_spec(name, place)
        except (ImportError, ValueError):
            return False
        if spec is None:
            return count > 1 and name not in sys.modules
        if spec.submodule_search_locations is None:
            return False  # What a module that is no folder holds is known to Python alone.
        place = list(spec.submodule_search_locations)
    return False


def _walk(root: Any) -> Iterator[Hazard | Foreign]:
    # (value, name of the nearest layer around it, whether it is itself one of a model's layers, depth)
    waiting: list[tuple[Any, str, bool, int]] = [(root, "model", True, 0)]
    while waiting:
        value, where, is_layer, depth = waiting.pop()
        if depth > damage.MAX_DEPTH:
            yield Hazard("too-deep", where, f"The description of {where!r} is nested too deep to be checked.")
            continue
        if isinstance(value, dict):
            if isinstance(value.get("class_name"), str):
                where = _name(value, where) if is_layer else where
                yield from _object(value, where)
            yield from _paths(value, where)
            for key, item in reversed(value.items()):
                # Keras 1 kept a Sequential's layers directly in "config".
                inner = key in ("layers", "layer", "cell", "cells", "backward_layer") or (
                    key == "config" and isinstance(item, list)
                )
                if isinstance(item, dict | list):
                    waiting.append((item, where, inner, depth + 1))
        elif isinstance(value, list):
            waiting.extend(
                (item, where, is_layer, depth + 1) for item in reversed(value) if isinstance(item, dict | list)
            )


def _name(value: dict[str, Any], where: str) -> str:
    config = value.get("config")
    name = value.get("name") or (config.get("name") if isinstance(config, dict) else None)
    return name if isinstance(name, str) else where


def _object(value: dict[str, Any], where: str) -> Iterator[Hazard | Foreign]:
    class_name, module = value["class_name"], _text(value.get("module"))
    config, registered = value.get("config"), _text(value.get("registered_name"))
    if class_name in _PLAIN and not module:
        return
    if class_name == "__lambda__":
        yield Hazard(
            "lambda",
            where,
            f"{where!r} holds Python bytecode (a lambda). Running it can do anything this program may do.",
        )
    elif class_name == "Lambda":
        yield Hazard(
            "lambda", where, f"Lambda layer {where!r} is Python code. Running it can do anything this program may do."
        )
        inner = config.get("function") if isinstance(config, dict) else None
        if isinstance(inner, str) and config.get("function_type") == "function":  # type: ignore[union-attr]
            yield Foreign(inner, str(config.get("module") or ""), where)  # type: ignore[union-attr]
    elif class_name in RUNS_CODE:
        yield Hazard(
            "file-access",
            where,
            f"{class_name} {where!r} loads another program or pickle by path. Running it can do anything.",
        )
    elif class_name in _FUNCTION_KINDS and (isinstance(config, str) or module):
        yield from _function(config, module, registered, where)
    elif class_name in (
        "TFOpLambda",
        "SlicingOpLambda",
        "ClassMethod",
        "InstanceMethod",
        "InstanceProperty",
        "TensorFlowOpLayer",
    ):
        yield from _operation(class_name, config if isinstance(config, dict) else {}, where)
    elif not is_builtin_class(class_name, module, registered) and _is_object(value):
        full = f"{module}.{class_name}" if module else class_name
        what = (
            "which no saved model needs"
            if _root(module) in _OWN and not _may_be_newer(module)
            else "which is not part of Keras here"
        )
        hazard = Hazard("unknown-class", where, f"{where!r} uses {full!r}, {what}. Loading it runs that code.")
        yield Foreign(class_name, module or "", where, hazard)


def _is_object(value: dict[str, Any]) -> bool:
    """Whether a dict with a class name is something Keras would build, and not a layer's own data."""
    return "config" in value or "module" in value or "registered_name" in value


def _function(config: Any, module: str | None, registered: str | None, where: str) -> Iterator[Hazard | Foreign]:
    name = (
        config
        if isinstance(config, str)
        else str((config or {}).get("name", registered) if isinstance(config, dict) else registered)
    )
    if is_builtin_function(name, module) and registered in (None, "function", name):
        return
    full = f"{module}.{name}" if module else name
    hazard = Hazard(
        "python-function", where, f"{where!r} refers to the Python function {full!r}. Running it can do anything."
    )
    yield Foreign(name, module or "", where, hazard)


def _operation(class_name: str, config: dict[str, Any], where: str) -> Iterator[Hazard]:
    if class_name == "TensorFlowOpLayer":
        if not is_arithmetic_node(config.get("node_def")):
            yield Hazard(
                "file-access",
                where,
                f"{where!r} holds a TensorFlow operation that is not plain arithmetic; it may read or write files.",
            )
        return
    name = config.get("function") or config.get("method_name") or config.get("attr_name") or ""
    if class_name == "TFOpLambda" and not is_arithmetic(str(name)):
        yield Hazard(
            "file-access",
            where,
            f"{where!r} calls tf.{name}, which is not plain arithmetic; it may read or write files.",
        )
    if class_name in ("ClassMethod", "InstanceMethod", "InstanceProperty"):
        holder = str(config.get("cls_symbol") or config.get("cls_ref") or "")
        if holder and holder.rsplit(".", maxsplit=1)[-1] not in ("RaggedTensor", "SparseTensor", "Tensor"):
            yield Hazard("file-access", where, f"{where!r} calls {holder}.{name}, which is not plain arithmetic.")


def _paths(value: dict[str, Any], where: str) -> Iterator[Hazard]:
    config = value.get("config")
    if str(value.get("class_name")) in _VOCABULARY_LAYERS and isinstance(config, dict):
        for key in ("vocabulary", "idf_weights"):
            if isinstance(config.get(key), str):
                yield _path_hazard(where, key, config[key])
    for key in _PATH_KEYS & value.keys():
        if isinstance(value[key], str) and ("/" in value[key] or "\\" in value[key]):
            yield _path_hazard(where, key, value[key])


def _path_hazard(where: str, key: str, path: str) -> Hazard:
    return Hazard(
        "path-value", where, f"{where!r} reads a file of this machine when it is loaded ({key} = {path[:120]!r})."
    )


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
