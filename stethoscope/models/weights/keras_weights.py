"""Weights of Keras files: HDF5 datasets, in the file itself or in a member of a `.keras` archive."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from stethoscope.models.containers import hdf5
from stethoscope.models.containers.archive import open_archive
from stethoscope.models.containers.hdf5 import StoredArray
from stethoscope.models.formats import keras_h5, keras_zip
from stethoscope.models.formats.keras_model.keras_config import Entry, Network
from stethoscope.models.formats.keras_model.keras_describe import Description, describe, sensible
from stethoscope.models.formats.keras_model.keras_shapes import follow
from stethoscope.models.formats.keras_model.keras_weight_rules import Weight
from stethoscope.models.formats.keras_model.keras_weights import expected_weights
from stethoscope.models.model_format import Pieces, StoredWeight, WeightsByLayer
from stethoscope.models.weights.weight_statistics import CHUNK_VALUES
from stethoscope.types import ModelFile

if TYPE_CHECKING:
    import numpy.typing as npt


@contextmanager
def of_archive(file: ModelFile) -> Iterator[WeightsByLayer]:
    """Weights of a `.keras` file."""
    with ExitStack() as stack:
        archive = stack.enter_context(open_archive(file))
        stack.enter_context(sensible(file.name))
        description = keras_zip.read(file, archive)
        root = keras_zip.top_folder(archive.names)
        trees = []
        for name in keras_zip.weight_members(file, archive, root):
            stream = stack.enter_context(keras_zip.member_stream(file, archive, name))
            trees.append(stack.enter_context(hdf5.open_h5(file.name, stream)))
        yield _by_layer(file, description, trees)


@contextmanager
def of_h5(file: ModelFile) -> Iterator[WeightsByLayer]:
    """Weights of an `.h5` file."""
    with sensible(file.name):
        description = keras_h5.read(file)
        with hdf5.open_h5(file.name, str(file.path)) as tree:
            yield _by_layer(file, description, [tree])


def _by_layer(file: ModelFile, description: Description, trees: Sequence[Any]) -> WeightsByLayer:
    stored = description.stored
    if stored is None:
        return {}
    layers = {layer.path: layer for layer in describe(description).layers}
    expected = _expected(description)
    found: WeightsByLayer = {}
    for path, arrays in stored.by_path.items():
        if path not in layers:
            continue
        roles = _roles(arrays, expected.get(path, ()))
        trained = layers[path].trainable_parameters > 0
        found[path] = [
            stored_weight(
                file, trees, array, role.role if role else _short(array.path), _is_trained(array, role) and trained
            )
            for array, role in zip(arrays, roles, strict=True)
        ]
    for owner, arrays in stored.leftover.items():
        named = owner or "weights"
        path = named if named in layers and named not in stored.by_path else f"{named} (own weights)"
        found[path] = [stored_weight(file, trees, array, _short(array.path), None) for array in arrays]
    return found


def _expected(description: Description) -> dict[str, list[Weight]]:
    if description.network is None:
        return {}
    flows = follow(description.network)[1]
    found: dict[str, list[Weight]] = {}

    def visit(network: Network, prefix: str) -> None:
        for entry in network.entries:
            path = prefix + entry.name
            if entry.network is not None:
                visit(entry.network, path + "/")
                continue
            weights = _of_entry(entry, flows[path].inputs if path in flows else [None], description.modern)
            if weights:
                found[path] = weights

    visit(description.network, "")
    return found


def _of_entry(entry: Entry, inputs: list[Any], modern: bool) -> list[Weight] | None:
    return expected_weights(entry.class_name, entry.config, inputs or [None], modern)


def _roles(arrays: Sequence[StoredArray], expected: Sequence[Weight]) -> list[Weight | None]:
    """What each array is, where the settings say in which order a layer keeps its weights and the shapes fit."""
    if [array.shape for array in arrays] == [weight.shape for weight in expected]:
        return list(expected)
    found: list[Weight | None] = []
    spare = list(expected)
    for array in arrays:
        fitting = [weight for weight in spare if weight.shape == array.shape and weight.role in array.path]
        found.append(fitting[0] if fitting else None)
        if fitting:
            spare.remove(fitting[0])
    return found


def _is_trained(array: StoredArray, role: Weight | None) -> bool:
    return role.trainable if role is not None else not any(word in array.path for word in ("moving_", "running_"))


def _short(path: str) -> str:
    parts = [part for part in path.split("/") if part != "vars"]
    return "/".join(parts[-2:]) if parts[-1].isdecimal() else parts[-1].removesuffix(":0")


def stored_weight(
    file: ModelFile, trees: Sequence[Any], array: StoredArray, name: str, trainable: bool | None
) -> StoredWeight:
    """A dataset of one of the open files `trees`, under this name."""
    return StoredWeight(name, array.shape, array.dtype, trainable, _pieces(file, trees, array))


def _pieces(file: ModelFile, trees: Sequence[Any], array: StoredArray) -> Pieces:
    def read() -> Iterator[npt.NDArray[Any]]:
        import numpy as np

        with hdf5.reading(file.name):
            spellings = (array.path, array.path.replace("/", "\\"))
            dataset = next(tree[spelled] for tree in trees for spelled in spellings if spelled in tree)
            if not array.shape:
                yield _widened(np.asarray(dataset[()]).reshape(1))
                return
            for part in _slices(array.shape):
                yield _widened(dataset[part].reshape(-1))

    return read


def _slices(shape: tuple[int, ...]) -> Iterator[tuple[slice | int, ...]]:
    """Parts of at most about `CHUNK_VALUES` values, in order: along the first axis, or along later ones of long rows."""
    row = math.prod(shape[1:])
    if row > CHUNK_VALUES and len(shape) > 1:
        for index in range(shape[0]):
            for rest in _slices(shape[1:]):
                yield (index, *rest)
        return
    step = max(1, CHUNK_VALUES // max(1, row))
    for start in range(0, shape[0], step):
        yield (slice(start, start + step),)


def _widened(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if values.dtype.kind == "V" and values.dtype.itemsize == 2:
        return (values.view("<u2").astype("<u4") << 16).view("<f4")
    return values
