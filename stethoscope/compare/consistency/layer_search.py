"""The first layer that shows a difference, or a value that is not finite, and the reason its kind suggests."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from stethoscope.compare.consistency.subject import Origin, Subject
from stethoscope.data.batching import difference, first_layer
from stethoscope.types import Feed

RANDOM_TYPES = (
    "Dropout",
    "SpatialDropout",
    "GaussianNoise",
    "GaussianDropout",
    "AlphaDropout",
    "Random",
    "Multinomial",
    "Bernoulli",
    "Sampl",
)
BATCH_TYPES = ("BatchNorm", "SyncBatchNorm", "FusedBatchNorm", "Normalization", "BATCH_NORM")
_RESHAPING = ("Reshape", "RESHAPE", "Flatten", "Squeeze", "Transpose", "TRANSPOSE", "Permute", "Roll", "Reverse")
_ATTEMPTS = 4


def between_runs(subject: Subject, feed: Feed, *, bits: bool) -> Origin | None:
    """The first layer whose output differs between two runs on the same input. Random layers may need several tries."""
    few = subject.few(feed)
    for attempt in range(_ATTEMPTS):
        subject.context.report("locate", attempt / _ATTEMPTS, "comparing two runs layer by layer")
        first, second = subject.activations(few), subject.activations(few)
        if first is None or second is None:
            return None
        hit = first_layer(first, second, subject.atol, bits=bits, half=subject.half)
        if hit is not None:
            return Origin(hit[0], _random_reason(subject, hit[0]), hit[1])
    return None


def across_inputs(subject: Subject, before: Feed, between: Feed) -> Origin | None:
    """The first layer that answers `before` differently once it has seen `between`."""
    few = subject.few(before)
    first = subject.activations(few)
    if first is None or subject.activations(subject.few(between)) is None:
        return None
    second = subject.activations(few)
    hit = None if second is None else first_layer(first, second, subject.atol, bits=False, half=subject.half)
    return None if hit is None else Origin(hit[0], _state_reason(subject, hit[0]), hit[1])


def between_rows(
    subject: Subject, first: Feed, second: Feed, places: npt.NDArray[np.intp], others: npt.NDArray[np.intp]
) -> Origin | None:
    """The first layer where rows that are the same in both inputs (`places` of one, `others` of the other) part.

    Both inputs have the same number of rows. An array whose first dimension is a multiple of it (batch and time folded
    into one) is compared in blocks; one that has no rows is left out.
    """
    subject.context.report("locate", message="comparing two batches layer by layer")
    rows = subject.batching.rows(first)
    left, right = subject.activations(first), subject.activations(second)
    if left is None or right is None:
        return None
    for path, array in left.items():
        other = right.get(path)
        mine, theirs = _blocks(array, rows), None if other is None else _blocks(other, rows)
        if mine is None or theirs is None:
            continue
        gap = difference(mine[places], theirs[others], subject.atol, half=subject.half)
        if gap is not None and gap.beyond:
            return Origin(path, _batch_reason(subject, path), gap)
    return None


def against_one_row(subject: Subject, feed: Feed, row: int) -> Origin | None:
    """The first layer whose output for `row` is another when the row is alone."""
    rows = subject.batching.rows(feed)
    many, alone = subject.activations(feed), subject.activations(subject.batching.part(feed, row, row + 1))
    if many is None or alone is None:
        return None
    for path, array in many.items():
        if path in alone and array.ndim and array.shape[0] == rows and alone[path].shape[:1] == (1,):
            gap = difference(array[row : row + 1], alone[path], subject.atol, half=subject.half)
            if gap is not None and gap.beyond:
                return Origin(path, _batch_reason(subject, path), gap)
    return None


def first_non_finite(subject: Subject, feed: Feed, ordinary: Callable[[], frozenset[str]]) -> Origin | None:
    """The first layer that turns an input into NaN or infinities; not one that holds them on `ordinary` input too."""
    found = subject.activations(feed)
    if found is None:
        return None
    usual = ordinary()
    for path, array in found.items():
        if path in usual or array.dtype.kind not in "fc" or np.isfinite(array).all():
            continue
        what = "NaN" if np.isnan(array).any() else "infinities"
        kind = subject.kind(path)
        return Origin(path, f"{path} ({kind}) is the first layer whose output holds {what} for this input.")
    return None


def non_finite_layers(subject: Subject, feed: Feed) -> frozenset[str]:
    """The layers whose output holds NaN or infinities: masks of graphs often do, on every input."""
    found = subject.activations(subject.few(feed)) or {}
    return frozenset(path for path, array in found.items() if array.dtype.kind in "fc" and not np.isfinite(array).all())


def where_nan_ends(subject: Subject, feed: Feed, row: int) -> Origin | None:
    """The first layer that reads NaN for `row` and gives none; None when every layer, seen alone, hands it on."""
    found, rows = subject.activations(feed), subject.batching.rows(feed)
    if found is None:
        return None
    poisoned = {name: bool(np.isnan(array).any()) for name, array in feed.items() if array.dtype.kind == "f"}
    entry = _entry(subject, found, rows) if any(poisoned.values()) and len(feed) == 1 else None
    for path, layer in subject.layers.items():
        reads = any(poisoned.get(source, False) for source in layer.inputs) or path == entry
        if path not in found:
            poisoned[path] = poisoned.get(path, False) or reads
            continue
        blocks = _blocks(found[path], rows)
        part = found[path] if blocks is None else blocks[row]
        poisoned[path] = part.dtype.kind == "f" and bool(np.isnan(part).any())
        if reads and not poisoned[path] and part.dtype.kind == "f":
            return Origin(path, f"{path} ({layer.type}) reads NaN and gives a finite number.")
    return None


def _entry(subject: Subject, found: Feed, rows: int) -> str | None:
    """The layer that reads the only input, where the file does not draw the input as a layer of its own."""
    named = {spec.name for spec in subject.runner.inputs}
    if named & {source for layer in subject.layers.values() for source in layer.inputs}:
        return None
    starts = (path for path, layer in subject.layers.items() if not layer.inputs and path in found)
    return next((path for path in starts if found[path].ndim and found[path].shape[0] == rows), None)


def _blocks(array: npt.NDArray[np.generic], rows: int) -> npt.NDArray[np.generic] | None:
    """The array with one block for each input row, or None when it has none."""
    if not array.ndim or rows < 1 or array.shape[0] == 0 or array.shape[0] % rows:
        return None
    return array.reshape(rows, array.shape[0] // rows, *array.shape[1:])


def _is_random(kind: str) -> bool:
    return kind.startswith(RANDOM_TYPES) or any(word in kind for word in ("Random", "Dropout", "Noise"))


def _random_reason(subject: Subject, path: str) -> str:
    kind = subject.kind(path)
    if _is_random(kind):
        return (
            f"{kind} draws random numbers at inference: it was called with training=True, or its random op has no seed."
        )
    return _remembering(subject, path) or (
        f"{kind} is the first layer whose output changes between runs: it holds a random or stateful operation."
    )


def _state_reason(subject: Subject, path: str) -> str:
    return _remembering(subject, path) or (
        f"{subject.kind(path)} keeps something of the inputs it has seen and uses it in the next call."
    )


def _remembering(subject: Subject, path: str) -> str:
    kind = subject.kind(path)
    layer = subject.layers.get(path)
    if layer is not None and layer.config.get("stateful"):
        return f"{kind} is stateful: it starts from the state that the previous call left. Reset it, or set stateful=False."
    if kind.startswith(BATCH_TYPES):
        return f"{kind} updates its statistics at inference: it was called with training=True."
    return ""


def _batch_reason(subject: Subject, path: str) -> str:
    kind = subject.kind(path)
    if kind.startswith(BATCH_TYPES):
        return f"{kind} uses the statistics of the batch at inference (training=True), so rows influence each other."
    if _is_random(kind):
        return f"{kind} draws random numbers by position in the batch, so a row's place changes its result."
    layer = subject.layers.get(path)
    axis = None if layer is None else layer.config.get("axis")
    if axis in (0, [0]) and isinstance(axis, int | list):
        return f"{kind} works along axis 0, which is the batch: its result for one row depends on the others."
    if kind.startswith(_RESHAPING):
        return f"{kind} moves values across the batch dimension, so rows mix. Keep the first dimension in place."
    return f"{kind} mixes the rows of a batch: its result for one row depends on the others."
