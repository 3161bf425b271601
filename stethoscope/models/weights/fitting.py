"""Whether weights fit a model: each of its layers beside what is stored for it, by name as Keras finds them, else by order or size."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Literal

from stethoscope.models.containers import hdf5
from stethoscope.models.containers.archive import open_archive
from stethoscope.models.formats import detect, keras_h5, keras_zip, weights_h5
from stethoscope.models.formats.keras_model.keras_config import Network
from stethoscope.models.formats.keras_model.keras_parameters import Stored, by_class, by_name
from stethoscope.models.formats.tf_graph import saved_model_files, saved_model_serving
from stethoscope.models.model_format import StoredWeight
from stethoscope.models.weights.weight_statistics import no_pieces, opened
from stethoscope.models.weights_only import Part, WeightsOnly
from stethoscope.types import ModelFile

Groups = Mapping[str, Sequence[StoredWeight]]
"""Weights by the layer they are of."""
MatchedBy = Literal["name", "order", "size"]


@dataclass(frozen=True)
class Misfit:
    """An array that has another shape in the weights than in the model, or is only in one of them (None in the other)."""

    layer: str
    weight: str
    in_model: tuple[int, ...] | None
    in_weights: tuple[int, ...] | None

    @property
    def sentence(self) -> str:
        """For people: "dense_3: kernel is 128×10 in the model, 128×12 in the weights"."""
        if self.in_model is None:
            return f"{self.layer}: {self.weight} ({sizes(self.in_weights)}) is only in the weights"
        if self.in_weights is None:
            return f"{self.layer}: {self.weight} ({sizes(self.in_model)}) is only in the model"
        return f"{self.layer}: {self.weight} is {sizes(self.in_model)} in the model, {sizes(self.in_weights)} in the weights"


@dataclass(frozen=True)
class WeightsFit:
    """Whether all arrays of a model have a counterpart of their shape in a file of weights."""

    weights: str
    """The file's name."""
    fits: bool
    matched_by: MatchedBy
    """What layers were matched by: "order" where their names differ and there are as many; "size" where the model has operators
    and no layers."""
    arrays: int
    """How many fit."""
    misfits: tuple[Misfit, ...] = ()
    missing: tuple[str, ...] = ()
    """Layers of the model for which nothing is stored."""
    unexpected: tuple[str, ...] = ()
    """Layers that are stored and that the model does not have."""


def sizes(shape: Sequence[int] | None) -> str:
    """For people: 128×12, "one number" of a scalar."""
    return "×".join(f"{size:,}" for size in shape or ()) or "one number"


def fit(model: ModelFile, weights: ModelFile) -> WeightsFit:
    """Matches the layers of a model with those of a file of weights, or of another model; reads no values.

    Raises:
        UnreadableFile, UnsafeFile, TooLarge: as `Format.describe` of either.
    """
    with matched(model, weights) as found:
        if found.by_size:
            return _by_size(weights.name, found.ours, found.theirs)
        arrays, misfits = 0, list[Misfit]()
        for layer, other in found.pairs.items():
            fitting, apart = one_layer(layer, found.ours[layer], found.theirs[other])
            arrays += len(fitting)
            misfits += apart
        missing = tuple(layer for layer in found.ours if layer not in found.pairs)
        taken = set(found.pairs.values())
        unexpected = tuple(layer for layer in found.theirs if layer not in taken)
        fits = bool(arrays) and not misfits and not missing and not unexpected
        return WeightsFit(weights.name, fits, found.how, arrays, tuple(misfits), missing, unexpected)


@dataclass(frozen=True)
class Matched:
    """Layers of a model and of weights, and which is which."""

    ours: Groups
    theirs: Groups
    pairs: Mapping[str, str]
    how: MatchedBy
    by_size: bool = False
    """Whether the model has operators instead of layers, which have no pairs then."""


@contextmanager
def matched(model: ModelFile, weights: ModelFile) -> Iterator[Matched]:
    """Yields both while they are open for reading values.

    Raises:
        UnreadableFile, UnsafeFile, TooLarge: as `Format.describe` of either.
    """
    with ExitStack() as stack:
        ours = _of_model(model, stack)
        theirs = _for_keras(model, weights, ours, stack) or _of_weights(weights, stack)
        kind = detect(model)
        if not kind.live and not kind.opens_inside and not kind.only_weights:
            yield Matched(ours, theirs, {}, "size", by_size=True)
            return
        yield Matched(ours, theirs, *_pairs(ours, theirs))


def _of_model(file: ModelFile, stack: ExitStack) -> Groups:
    kind = detect(file)
    if kind.opens_inside:
        served = saved_model_serving.serve(saved_model_files.locate(file))
        named = {
            one.name.partition(":")[0]: tuple(size or 0 for size in one.shape)
            for one in served.variables.all
            if one.name
        }
        return _grouped(
            (name.rpartition("/")[0], _only_shape(name.rpartition("/")[2], shape)) for name, shape in named.items()
        )
    if isinstance(kind, WeightsOnly):
        return _of_weights(file, stack)
    return {layer: tuple(some) for layer, some in stack.enter_context(opened(file)).items() if some}


def _of_weights(file: ModelFile, stack: ExitStack) -> Groups:
    kind = detect(file)
    if not isinstance(kind, WeightsOnly):
        return _of_model(file, stack)
    holding = stack.enter_context(kind.held(file))
    return _grouped((one.layer or one.path, one.weight) for one in holding.variables if one.part is Part.WEIGHT)


def _grouped(found: Iterator[tuple[str, StoredWeight]]) -> Groups:
    groups: dict[str, list[StoredWeight]] = {}
    for layer, weight in found:
        groups.setdefault(layer, []).append(weight)
    return groups


def _only_shape(name: str, shape: tuple[int, ...]) -> StoredWeight:
    return StoredWeight(name, shape, "", None, no_pieces, unreadable="its values are not read by name")


def _for_keras(model: ModelFile, weights: ModelFile, ours: Groups, stack: ExitStack) -> Groups | None:
    """Weights in HDF5 by the layers of a Keras model, as Keras finds them; None for other pairs, or where names do not lead there."""
    network = _network(model)
    if network is None or detect(weights).id != weights_h5.FORMAT.id:
        return None
    from stethoscope.models.weights.keras_weights import stored_weight

    held = stack.enter_context(hdf5.open_h5(weights.name, str(weights.path)))
    with hdf5.reading(weights.name):
        tree = hdf5.survey(weights.name, held)
    by_vars = any("/vars/" in path for path in tree.arrays)
    stored: Stored = by_class(network, tree, modern=True) if by_vars else by_name(network, tree)
    if not stored.by_path:
        return None
    in_order = by_vars and detect(model).id == keras_zip.FORMAT.id  # both then number them as Keras does
    found: dict[str, list[StoredWeight]] = {}
    for layer, arrays in {**stored.leftover, **stored.by_path}.items():
        known = ours.get(layer, ())
        named = [stored_weight(weights, [held], array, _name(array.path), None) for array in arrays]
        if len(named) == len(known) and in_order:
            named = [replace(one, name=own.name) for one, own in zip(named, known, strict=True)]
        if named:
            found[layer] = named
    return found


def _network(file: ModelFile) -> Network | None:
    kind = detect(file)
    if kind.id == keras_h5.FORMAT.id:
        return keras_h5.read(file).network
    if kind.id == keras_zip.FORMAT.id:
        with open_archive(file) as archive:
            return keras_zip.read(file, archive).network
    return None


def _name(path: str) -> str:
    return path.rsplit("/", 1)[-1].removesuffix(":0")


def _pairs(ours: Groups, theirs: Groups) -> tuple[dict[str, str], MatchedBy]:
    """The layer of the weights for each of the model: of the same name, of a name that ends so, else the one in the same place."""
    found = {layer: layer for layer in ours if layer in theirs}
    taken = set(found.values())
    for layer in ours:
        if layer in found:
            continue
        alike = [other for other in theirs if other not in taken and _ends_alike(layer, other)]
        if len(alike) == 1:
            found[layer] = alike[0]
            taken.add(alike[0])
    if 2 * len(found) < len(ours) and len(ours) == len(theirs):
        return dict(zip(ours, theirs, strict=True)), "order"
    return found, "name"


def _ends_alike(layer: str, other: str) -> bool:
    return layer.endswith(f"/{other}") or other.endswith(f"/{layer}")


def one_layer(
    layer: str, ours: Sequence[StoredWeight], theirs: Sequence[StoredWeight]
) -> tuple[list[tuple[StoredWeight, StoredWeight]], list[Misfit]]:
    """The arrays of a layer that fit, and those that do not: paired by name and shape, by shape, then by name, by axes, by order."""
    left, right = list(ours), list(theirs)
    fitting = _paired(left, right, lambda a, b: a.name == b.name and a.shape == b.shape)
    fitting += _paired(left, right, lambda a, b: a.shape == b.shape)
    pairs = _paired(left, right, lambda a, b: a.name == b.name)
    pairs += _paired(left, right, lambda a, b: len(a.shape) == len(b.shape))
    pairs += _paired(left, right, lambda a, b: True)
    misfits = [Misfit(layer, a.name, a.shape, b.shape) for a, b in pairs]
    misfits += [Misfit(layer, a.name, a.shape, None) for a in left]
    return fitting, [*misfits, *(Misfit(layer, b.name, None, b.shape) for b in right)]


def _paired(
    left: list[StoredWeight], right: list[StoredWeight], alike: Callable[[StoredWeight, StoredWeight], bool]
) -> list[tuple[StoredWeight, StoredWeight]]:
    """Takes pairs that are alike out of both lists."""
    found = []
    for one in tuple(left):
        other = next((each for each in right if alike(one, each)), None)
        if other is not None:
            left.remove(one)
            right.remove(other)
            found.append((one, other))
    return found


def _by_size(name: str, ours: Groups, theirs: Groups) -> WeightsFit:
    """Operators have other names than layers, fold arrays into each other and order their axes in their own way."""
    spare = [tuple(sorted(one.shape)) for some in theirs.values() for one in some]
    misfits, arrays = [], 0
    for layer, some in ours.items():
        for one in some:
            if tuple(sorted(one.shape)) in spare:
                spare.remove(tuple(sorted(one.shape)))
                arrays += 1
            else:
                misfits.append(Misfit(layer, one.name, one.shape, None))
    return WeightsFit(name, not misfits and bool(arrays), "size", arrays, tuple(misfits))
