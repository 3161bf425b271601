"""What is part of Keras: exact (module, class) names that a model file may mention without holding foreign code.

The lists are data (`keras_builtins.json`), made from the installed keras and tf_keras by

    python -m stethoscope.models.formats.keras_model.keras_builtins

so that describing a file imports neither.
"""

from __future__ import annotations

import functools
import inspect
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

_DATA = Path(__file__).with_name("keras_builtins.json")
RUNS_CODE = frozenset({"Lambda", "TFSMLayer", "TorchModuleWrapper", "JaxLayer", "FlaxLayer"})
"""Part of Keras, but made to run code or load files that the model brings."""
_CLASS_SPACES = (
    "activations constraints dtype_policies initializers layers losses metrics models optimizers optimizers.schedules "
    "optimizers.legacy quantizers random regularizers mixed_precision distillation"
)
_FUNCTION_SPACES = "activations losses metrics"


@functools.cache
def _data() -> dict[str, frozenset[str]]:
    with _DATA.open(encoding="utf-8") as stream:
        return {key: frozenset(value) for key, value in json.load(stream).items()}


def is_builtin_class(class_name: str, module: str | None, registered_name: str | None) -> bool:
    """Whether a serialized object is a class of Keras: by exact module and name where the file gives a module."""
    if module:
        return f"{module}.{class_name}" in _data()["classes"]
    if registered_name and registered_name != class_name and registered_name not in _data()["names"]:
        return False
    return class_name in _data()["names"]


class Named(Protocol):
    """Anything that a file gives a class to."""

    class_name: str
    module: str | None
    registered_name: str | None


def is_builtin(entry: Named) -> bool:
    """Whether a layer of a network is Keras' own."""
    return is_builtin_class(entry.class_name, entry.module, entry.registered_name)


def is_builtin_function(name: str, module: str | None) -> bool:
    """Whether a function reference is an activation, loss or metric of Keras."""
    if module in (None, "", "builtins"):
        return name in _data()["function_names"]
    return f"{module}.{name}" in _data()["functions"]


def is_operation_name(class_name: str) -> bool:
    """Whether Keras 3 has an operation (not a layer) of this name."""
    return class_name in _data()["operations"]


def layer_by_key(key: str) -> str:
    """Returns the class behind a weight group's key ("multi_head_attention_1" → "MultiHeadAttention"), or ""."""
    from stethoscope.models.formats.keras_model.keras_parameters import snake_case

    head, _, tail = key.rpartition("_")
    stem = head if head and tail.isdigit() else key
    layers = (
        name.removeprefix("keras.layers.") for name in sorted(_data()["classes"]) if name.startswith("keras.layers.")
    )
    return next((name for name in layers if snake_case(name) == stem), "")


def collect() -> dict[str, list[str]]:
    """Lists what the installed keras and tf_keras export; imports both."""
    import keras
    import tf_keras

    classes: set[str] = set()
    functions: set[str] = set()
    for package, aliases in ((keras, ("keras",)), (tf_keras, ("keras", "tf_keras", "tensorflow.keras"))):
        for space in ("", *_CLASS_SPACES.split()):
            for name, thing in _members(package, space):
                if inspect.isclass(thing) and _is_serializable(thing) and name not in RUNS_CODE:
                    public = [f"{alias}.{space}".rstrip(".") + f".{name}" for alias in aliases]
                    classes.update([*public, f"{thing.__module__}.{thing.__name__}"])
        for space in _FUNCTION_SPACES.split():
            for name, thing in _members(package, space):
                if inspect.isfunction(thing) and name not in ("get", "serialize", "deserialize"):
                    functions.update(f"{alias}.{space}.{name}" for alias in aliases)
                    functions.add(f"{thing.__module__}.{name}")
    for prefix in (
        "keras.src.ops",
        "keras.src.layers",
        "keras.src.models",
        "keras.src.applications",
        "tf_keras.src.layers",
        "tf_keras.src.engine",
        "tf_keras.src.applications",
        "tensorflow.python.ops.init_ops",
    ):
        classes.update(_internal(prefix))
    # Keras 2 itself wrote the same paths under its own name, and before 2.13 without "src".
    for name in [name for name in classes if name.startswith("tf_keras.src.")]:
        classes.update({name.removeprefix("tf_"), name.replace("tf_keras.src.", "keras.")})
    classes = {name for name in classes if name.rsplit(".", 1)[-1] not in RUNS_CODE}
    operations = {name.rsplit(".", 1)[-1] for name in _internal("keras.src.ops")}
    return {
        "operations": sorted(operations),
        "classes": sorted(classes),
        "names": sorted(
            {name.rsplit(".", 1)[-1] for name in classes} | {"Model", "Policy"} | set(_registered(tf_keras))
        ),
        "functions": sorted(functions),
        "function_names": sorted({name.rsplit(".", 1)[-1] for name in functions}),
    }


def _registered(package: Any) -> Iterator[str]:
    """Names under which tf_keras registers its own classes, such as "Custom>Adam"."""
    for name, thing in package.saving.get_custom_objects().items():
        if inspect.isclass(thing) and thing.__module__.startswith("tf_keras.") and thing.__name__ not in RUNS_CODE:
            yield name


def _members(package: Any, space: str) -> list[tuple[str, Any]]:
    thing = package
    for part in filter(None, space.split(".")):
        thing = getattr(thing, part, None)
    return [] if thing is None else [(name, getattr(thing, name)) for name in dir(thing) if not name.startswith("_")]


def _is_serializable(thing: type) -> bool:
    return hasattr(thing, "from_config") and hasattr(thing, "get_config")


def _internal(prefix: str) -> Iterator[str]:
    for name in sorted(module for module in sys.modules if module.startswith(prefix) and not module.endswith("_test")):
        for class_name, thing in inspect.getmembers(sys.modules[name], inspect.isclass):
            if thing.__module__ == name and _is_serializable(thing) and not class_name.startswith("_"):
                yield f"{name}.{class_name}"


if __name__ == "__main__":
    _DATA.write_text(json.dumps(collect(), indent=0) + "\n", encoding="utf-8")
