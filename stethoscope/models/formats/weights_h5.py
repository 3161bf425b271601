"""Keras weights in HDF5 (`save_weights`): `.weights.h5` of Keras 3, `.h5` of Keras 1 and 2, `tf_model.h5` of Hugging Face."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from stethoscope.errors import UnreadableFile
from stethoscope.models.containers import hdf5
from stethoscope.models.formats.keras_model.keras_parameters import is_parameter
from stethoscope.models.hugging_face import AS_SAVED_MODEL
from stethoscope.models.weights_only import SAVE_WHOLE, Holding, Part, Variable, WeightsOnly
from stethoscope.types import ModelFile

_OF_OPTIMIZER = re.compile(r"(^|/)_?optimizer(_weights)?(/|$)")
_TRANSFORMERS = re.compile(r"[^/]+/tf_\w+/")
"""Classes of Hugging Face for TensorFlow, TFBertModel, name their weights after themselves."""


class WeightsH5(WeightsOnly):
    """HDF5 files with Keras' groups of weights and no model_config."""

    id = "weights_h5"
    title = "Keras weights (.weights.h5)"
    extensions = (".h5", ".hdf5", ".hdf")
    hint = "Keras weights"

    def sniff(self, file: ModelFile) -> bool:
        """The HDF5 signature at one of the places the format allows it."""
        return file.path.is_file() and hdf5.has_signature(file.path)

    def holds(self, file: ModelFile) -> bool:
        """Whether there are groups of weights, and no model."""
        try:
            with hdf5.open_h5(file.name, str(file.path)) as opened, hdf5.reading(file.name):
                if hdf5.attribute(file.name, opened, "model_config") is not None:
                    return False
                return _layout(file.name, opened, hdf5.survey(file.name, opened)) != ""
        except UnreadableFile:
            return False

    def held(self, file: ModelFile) -> AbstractContextManager[Holding]:
        """See `WeightsOnly.held`."""
        return _held(file)


@contextmanager
def _held(file: ModelFile) -> Iterator[Holding]:
    from stethoscope.models.weights.keras_weights import stored_weight

    with hdf5.open_h5(file.name, str(file.path)) as opened:
        with hdf5.reading(file.name):
            tree = hdf5.survey(file.name, opened)
            layout = _layout(file.name, opened, tree)
            version = hdf5.attribute(file.name, opened, "keras_version")
            listed = hdf5.attribute(file.name, opened, "layer_names")
        if not layout:
            raise UnreadableFile(f"{file.name}: expected groups of Keras weights, got other HDF5 data. Save it again.")
        paths = _paths(tree)
        variables = [
            Variable(
                paths[path],
                stored_weight(file, [opened], array, paths[path].rsplit("/", 1)[-1], None),
                _layer(tree, path),
                _part(array),
                path if path != paths[path] else "",
            )
            for path, array in sorted(
                tree.arrays.items(), key=_order(tree, listed if isinstance(listed, tuple) else ())
            )
        ]
        yield Holding(
            variables,
            layout,
            f"Keras {version}" if version else "",
            whole=AS_SAVED_MODEL if layout == _HUGGING_FACE else f"{SAVE_WHOLE}.",
        )


_HUGGING_FACE = "Hugging Face weights in HDF5"


def _layout(subject: str, opened: Any, tree: hdf5.Tree) -> str:
    """What to call it; "" where it holds no weights of Keras."""
    if "top_level_model_weights" in tree.group_set and any(_TRANSFORMERS.match(path) for path in tree.arrays):
        return _HUGGING_FACE
    if hdf5.attribute(subject, opened, "layer_names") is not None or tree.weight_names:
        return "Keras weights in HDF5"
    if "layers" in tree.group_set or any("/vars/" in path for path in tree.arrays):
        return "Keras 3 weights in HDF5"
    return ""


def _order(tree: hdf5.Tree, layers: tuple[str, ...]) -> Callable[[tuple[str, hdf5.StoredArray]], tuple[int, int]]:
    """The order in which the model has its layers, and a layer its weights, where the file notes that; else that of the file."""
    of_layer = {name: place for place, name in enumerate(layers)}
    of_weight = {
        f"{group}/{name}": place for group, names in tree.weight_names.items() for place, name in enumerate(names)
    }
    last = len(tree.arrays)
    return lambda item: (of_layer.get(_layer(tree, item[0]), last), of_weight.get(item[0], last))


def _layer(tree: hdf5.Tree, path: str) -> str:
    """The group that stands for the layer: the outermost that lists weights, or what lies above `vars`."""
    head, marked, _ = path.partition("/vars/")
    if marked:
        return tree.names.get(f"{head}/vars") or tree.names.get(head) or head.removeprefix("layers/")
    parts = path.split("/")
    groups = ("/".join(parts[:end]) for end in range(1, len(parts)))
    return next((group for group in groups if group in tree.weight_names), "/".join(parts[:-1]))


def _paths(tree: hdf5.Tree) -> dict[str, str]:
    """Each dataset under a name that reads well: without `layers`, `vars`, `:0`, and a layer's name said twice."""
    found = {path: _short(path, _layer(tree, path)) for path in tree.arrays}
    common = Counter(found.values())
    return {path: short if common[short] == 1 else path for path, short in found.items()}


def _short(path: str, layer: str) -> str:
    _, marked, tail = path.partition("/vars/")
    if marked:
        return f"{layer}/{tail}"
    rest = path.removeprefix(f"{layer}/") if layer else path
    return f"{layer}/{rest.removeprefix(f'{layer}/')}".removesuffix(":0").removeprefix("/")


def _part(array: hdf5.StoredArray) -> Part:
    if _OF_OPTIMIZER.search(array.path):
        return Part.OPTIMIZER
    return Part.WEIGHT if is_parameter(array) else Part.OTHER


FORMAT = WeightsH5()
