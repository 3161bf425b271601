"""Full models in HDF5, the `.h5` format of Keras 1, 2 and 3: a model_config attribute and one group of weights per layer."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from stethoscope.errors import UnreadableFile
from stethoscope.models import own_code
from stethoscope.models.containers import hdf5
from stethoscope.models.containers.damage import JSON
from stethoscope.models.formats.keras_model.keras_config import parse_network
from stethoscope.models.formats.keras_model.keras_describe import Description, describe, is_modern, sensible
from stethoscope.models.formats.keras_model.keras_legacy import is_legacy, modernised, program
from stethoscope.models.formats.keras_model.keras_parameters import Stored, by_name
from stethoscope.models.model_format import Format, Program, WeightsByLayer
from stethoscope.types import Architecture, ModelFile, Runner, WorkerKind


class KerasH5(Format):
    """`.h5` and `.hdf5` files. Any HDF5 file is ours, so that `describe` can say what else it is."""

    id = "keras_h5"
    title = "Keras model in HDF5 (.h5)"
    extensions = (".h5", ".hdf5", ".hdf")
    hint = ".h5"
    worker: WorkerKind = "tensorflow"
    is_program = False
    live = trainable = weights_judged = True

    def sniff(self, file: ModelFile) -> bool:
        """The HDF5 signature at one of the places the format allows it."""
        return file.path.is_file() and hdf5.has_signature(file.path)

    def describe(self, file: ModelFile) -> Architecture:
        """See `Format.describe`."""
        with sensible(file.name):
            return describe(read(file))

    def skeleton(self, file: ModelFile) -> tuple[str, bytes]:
        """See `Format.skeleton`."""
        from stethoscope.models.formats.keras_model.keras_legacy import h5_skeleton

        with sensible(file.name):
            read(file)
        return "model.h5", h5_skeleton(file)

    def open(self, file: ModelFile, scratch: Path, *, trusted: bool = False) -> Runner:
        """See `Format.open`."""
        from stethoscope.models.formats.keras_model.keras_loading import open_h5

        with sensible(file.name):
            description = read(file)
            architecture = describe(description)
        return open_h5(file, description, architecture, trusted=trusted)

    def program(self, name: str, architecture: Architecture) -> Program:
        """See `Format.program`."""
        return program(name, architecture)

    def weights(self, file: ModelFile) -> AbstractContextManager[WeightsByLayer]:
        """See `Format.weights`."""
        from stethoscope.models.weights.keras_weights import of_h5

        return of_h5(file)


def read(file: ModelFile) -> Description:
    """Reads everything but the weights themselves.

    Raises:
        UnreadableFile: it is damaged, or is not a model at all.
        UnsafeFile, TooLarge: as `Format.describe`.
    """
    with hdf5.open_h5(file.name, str(file.path)) as opened, hdf5.reading(file.name):
        config = hdf5.attribute(file.name, opened, "model_config")
        tree = hdf5.survey(file.name, opened)
        if config is None:
            raise UnreadableFile(f"{file.name}: {_what_else(tree)}")
        training = hdf5.attribute(file.name, opened, "training_config")
        version, backend = (hdf5.attribute(file.name, opened, key) for key in ("keras_version", "backend"))
        if "model_weights" in tree.group_set and version is None:
            version = hdf5.attribute(file.name, opened["model_weights"], "keras_version")
            backend = hdf5.attribute(file.name, opened["model_weights"], "backend")
    version, backend = str(version or ""), str(backend or "")
    model = _json(file.name, config, "model_config")
    legacy = is_legacy(model, version)
    originals = (model,) if _has_lambda(model) else ()
    if legacy:
        model = modernised(model)
        backend = backend or _kernel_backend(tree)
    network = parse_network(file.name, model)
    weights = hdf5.Tree()
    for path, array in tree.arrays.items():
        if path.startswith("model_weights/"):
            weights.arrays[path[len("model_weights/") :]] = array
    weights.groups = [path[len("model_weights/") :] for path in tree.groups if path.startswith("model_weights/")]
    stored: Stored | None = by_name(network, weights) if network is not None and weights.groups else None
    kind = 3 if is_modern(version) else 1 if legacy else 2
    return Description(
        subject=file.name,
        format_id=KerasH5.id,
        display_format=f"Keras {kind} HDF5",
        model=model,
        network=network,
        version=version,
        backend=backend,
        training=None if training is None else _json(file.name, training, "training_config"),
        stored=stored,
        weight_bytes=sum(array.size_bytes for array in weights.arrays.values()),
        originals=originals,
        code=own_code.read(file.code),
    )


def _json(subject: str, text: Any, name: str) -> Any:
    try:
        return json.loads(text)
    except (*JSON, TypeError) as error:
        raise UnreadableFile(
            f"{subject}: attribute {name!r} is not readable JSON ({str(error)[:100]}). Save the model again."
        ) from error


def _has_lambda(model: Any) -> bool:
    return "ambda" in json.dumps(model)


def _kernel_backend(tree: hdf5.Tree) -> str:
    """Keras 1 does not name its backend; TensorFlow's variables end in ":0", Theano's do not."""
    names = [path for path in tree.arrays if path.startswith("model_weights/")]
    return "tensorflow" if not names or any(name.endswith(":0") for name in names) else "theano"


def _what_else(tree: hdf5.Tree) -> str:
    tops = list(dict.fromkeys(path.split("/")[0] for path in tree.arrays)) or [
        group for group in tree.groups if "/" not in group
    ]
    shown = ", ".join(repr(name)[1:-1] for name in tops[:5]) + (" …" if len(tops) > 5 else "")
    kind = "datasets" if tree.arrays else "groups"
    return f"is an HDF5 data file with {kind} {shown or '(none)'}: not a model. Upload a model saved with model.save()."


FORMAT = KerasH5()
