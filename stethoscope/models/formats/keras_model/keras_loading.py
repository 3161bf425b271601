"""Rebuilds a Keras model for running, with the Keras it was made for. Imported only in a worker.

Keras 3 `.h5` models into Keras 3, which does not find its own operations in such files again. Worker only.

`x[:, 0]` or `x * 2` become operations `GetItem` and `Multiply`; an `.h5` file names the class without its module, so Keras
looks for a layer of that name. Here each operation gets a name of its own before the model is rebuilt.
"""

from __future__ import annotations

import copy
import importlib
import re
import shutil
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from stethoscope import framework_errors
from stethoscope.errors import CannotRun, StethoscopeError
from stethoscope.models.containers import hdf5
from stethoscope.models.containers.archive import open_archive
from stethoscope.models.formats.keras_model.keras_builtins import is_builtin, own_layers
from stethoscope.models.formats.keras_model.keras_config import Network
from stethoscope.models.formats.keras_model.keras_describe import Description
from stethoscope.models.formats.keras_model.keras_hazards import WHAT_HELPS, Foreign, inspect_description
from stethoscope.models.formats.keras_model.keras_runner import KerasRunner
from stethoscope.models.formats.keras_model.keras_shapes import is_operation
from stethoscope.models.formats.keras_model.keras_version2 import load_version2
from stethoscope.models.formats.keras_model.own_objects import register
from stethoscope.models.formats.tf_graph import tf_calls
from stethoscope.models.model_format import refuse
from stethoscope.types import Architecture, ModelFile

_MISSING = re.compile(
    r"(?:Unknown (?:[a-z]+ function|layer|object|class|initializer|regularizer|constraint|metric|optimizer):|"
    r"Could not locate (?:class|function)) *['\"]?([\w>.]+)"
)
"""How Keras 2 and 3 say that a class or function is not there: serialization.py, serialization_lib.py, activations.py."""
_BYTECODE = re.compile(r"bad marshal data|closure\) must be None or tuple|EOF read where")
"""How Python says that it cannot read a function that another version of it wrote."""


def open_zip(
    file: ModelFile, description: Description, architecture: Architecture, scratch: Path, *, trusted: bool
) -> KerasRunner:
    """Loads a `.keras` file; see `Format.open`."""
    refuse(file, architecture, trusted=trusted)
    _import_foreign(description, trusted)
    _register(description)
    path = _archive_path(file, scratch)
    with _explained(file, description):
        if description.modern:
            import keras

            model = _with_weights(
                description,
                lambda: keras.saving.load_model(path, own_layers(keras), compile=False, safe_mode=not trusted),
                keras,
                trusted,
            )
        else:
            import tf_keras as keras

            model = _with_weights(
                description,
                lambda: keras.models.load_model(path, own_layers(keras), compile=False, safe_mode=not trusted),
                keras,
                trusted,
            )
    return KerasRunner(file, model, keras, architecture)


def open_h5(file: ModelFile, description: Description, architecture: Architecture, *, trusted: bool) -> KerasRunner:
    """Loads a `.h5` file; see `Format.open`."""
    refuse(file, architecture, trusted=trusted)
    _import_foreign(description, trusted)
    _register(description)
    with _explained(file, description):
        if not description.modern:
            import tf_keras

            return KerasRunner(file, load_version2(file, description, trusted=trusted), tf_keras, architecture)
        import keras

        model = load_version3_h5(file, description, trusted=trusted)
    return KerasRunner(file, model, keras, architecture)


def _register(description: Description) -> None:
    """A file of code that is broken keeps nothing from running that needs none of it."""
    code = description.code
    register(None if code is None or code.problem else code.file, modern=description.modern)


def _foreign(description: Description) -> tuple[Foreign, ...]:
    return inspect_description(description.untrained, *description.originals, provided=description.provided).foreign


def _import_foreign(description: Description, trusted: bool) -> None:
    """Imports the packages that register a trusted model's own classes."""
    if not trusted:
        return
    for module in dict.fromkeys(need.module for need in _foreign(description)):
        if module and module.split(".")[0] not in ("builtins", "__main__", "keras", "tf_keras"):
            try:
                importlib.import_module(module)
            except ImportError as error:
                raise CannotRun(
                    f"{description.subject}: it needs the Python module {module!r}, which cannot be imported ({error}). Install it on this machine."
                ) from error


def _with_weights(description: Description, load: Any, keras: Any, trusted: bool) -> Any:
    if description.stored is not None:
        return load()
    return keras.saving.deserialize_keras_object(description.untrained, safe_mode=not trusted)


def _archive_path(file: ModelFile, scratch: Path) -> Path:
    from stethoscope.models.formats.keras_zip import top_folder

    with open_archive(file) as archive:
        root = top_folder(archive.names)
        if not root:
            return _linked(file, scratch / "model.keras")
        target = scratch / "model.keras"
        with zipfile.ZipFile(target, "w") as packed:
            for name in archive.names:
                with packed.open(name[len(root) :], "w", force_zip64=True) as out:
                    for chunk in archive.chunks(name):
                        out.write(chunk)
    return target


def _linked(file: ModelFile, target: Path) -> Path:
    """Keras goes by the suffix; stored files have none."""
    try:
        target.symlink_to(file.path.resolve())
    except OSError:
        shutil.copyfile(file.path, target)
    return target


@contextmanager
def _explained(file: ModelFile, description: Description) -> Iterator[None]:
    try:
        yield
    except StethoscopeError:
        raise
    except Exception as error:
        if framework_errors.explain(error) is not None:
            raise
        raise CannotRun(f"{file.name}: {_reason(description, error)}") from error


def _reason(description: Description, error: Exception) -> str:
    text = str(error)
    foreign = _foreign(description)
    found = _MISSING.search(text)
    named = next((need for need in foreign if re.search(rf"\b{re.escape(need.name)}\b", text)), None)
    if named or found:
        missing = named.name if named else found.group(1) if found else ""
        where = f" (in {named.where!r})" if named else _users(description.network, missing)
        return f"needs {missing!r}{where}, which the installed Keras does not have. {WHAT_HELPS}"
    if _BYTECODE.search(text):
        return (
            f"Python {sys.version_info.major}.{sys.version_info.minor} cannot read the function in its Lambda layer{_lambdas(description)}: "
            f"another version of Python wrote it, or it is damaged. {tf_calls.BY_CODE}"
        )
    unknown = tf_calls.undefined(error)
    if unknown and (places := _lambdas(description)):
        return (
            f"the function in its Lambda layer{places} uses {unknown!r}, which was defined where the model was saved: the file does not "
            f"hold it. {tf_calls.BY_CODE}"
        )
    saved_by = f"a Keras {description.version} file" if description.version else "this file"
    return f"the installed Keras cannot rebuild {saved_by}: {framework_errors.gist(error)}. Save it again with a current Keras, or convert it to ONNX or TFLite."


def _lambdas(description: Description) -> str:
    found = inspect_description(description.untrained, *description.originals).hazards
    places = list(dict.fromkeys(one.where for one in found if one.rule == "lambda"))
    return f"{'s' * (len(places) > 1)} {', '.join(map(repr, places[:4]))}" if places else ""


def _users(network: Network | None, class_name: str) -> str:
    found = (
        [entry.name for entry in network.entries if entry.class_name == class_name and not is_builtin(entry)]
        if network
        else []
    )
    return f" (in {found[0]!r})" if found else ""


_PREFIX = "operation "


def load_version3_h5(file: ModelFile, description: Description, *, trusted: bool) -> Any:
    """Returns a `keras.Model` with the file's weights."""
    import keras
    from keras.src.legacy.saving import legacy_h5_format, saving_options, saving_utils
    from keras.src.saving import serialization_lib

    config = copy.deepcopy(description.model)
    names = set() if description.network is None else _name_operations(config, description.network)
    classes = own_layers(keras) | {_PREFIX + name: kind for name, kind in _operation_classes().items() if name in names}
    with saving_options.keras_option_scope(use_legacy_config=True), serialization_lib.SafeModeScope(not trusted):
        model = saving_utils.model_from_config(config, custom_objects=classes)
        with hdf5.open_h5(file.name, str(file.path)) as opened:
            if description.weight_bytes:
                legacy_h5_format.load_weights_from_hdf5_group(opened["model_weights"], model)
    return model


def _name_operations(model: dict[str, Any], network: Network) -> set[str]:
    """Renames the classes of operations in a serialized model; returns the original names."""
    found: set[str] = set()
    layers = model["config"]["layers"] if isinstance(model["config"], dict) else model["config"]
    for layer, entry in zip(layers, network.entries, strict=True):
        if entry.network is not None:
            found |= _name_operations(layer, entry.network)
        elif is_operation(entry):
            found.add(entry.class_name)
            layer["class_name"] = _PREFIX + entry.class_name
    return found


def _operation_classes() -> dict[str, Any]:
    from keras.src.ops.operation import Operation

    found: dict[str, Any] = {}
    waiting: list[Any] = list(Operation.__subclasses__())
    for kind in waiting:
        waiting.extend(kind.__subclasses__())
        if kind.__module__.startswith("keras.src.ops"):
            found[kind.__name__] = kind
    return found
