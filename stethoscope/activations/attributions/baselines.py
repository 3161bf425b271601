"""What a model's input is to people, and what stands for "nothing here" in it: black, the mean, a blur, noise."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.activations.attributions.method import InputKind
from stethoscope.activations.model_rows import ModelRows
from stethoscope.errors import BadInput, BadSetting, TooLarge
from stethoscope.task import TaskContext
from stethoscope.types import Architecture, Feed, Layer, Runner

BASELINES = ("zero", "mean", "blur", "low", "high", "noise")
_BLUR_SHARE = 0.1


def baseline(
    asked: str,
    row: npt.NDArray[Any],
    kind: InputKind,
    channel_axis: int | None,
    reference: npt.NDArray[Any] | None,
    seed: int,
    zero: float = 0.0,
) -> tuple[npt.NDArray[Any], str, str]:
    """The baseline of one row.

    Args:
        asked: one of `BASELINES`; "" for what suits the kind: the data's mean for features, zero elsewhere.
        row: (1, …), the input as it is fed.
        kind: what it is.
        channel_axis: of one row, or None.
        reference: rows of the data for the mean, (rows, …); None where there are none.
        seed: of the noise.
        zero: the number that stands for 0 in this input (the zero point of a quantised one).

    Returns:
        (array of the row's shape and dtype, the baseline's id, a sentence about what was done or "").

    Raises:
        BadSetting: there is no such baseline.
    """
    if asked and asked not in BASELINES:
        raise BadSetting(
            f"Baseline {asked!r}: expected one of {', '.join(BASELINES)}, got another. Choose one of these."
        )
    if kind == "tokens":
        return np.zeros_like(row), "zero", "" if asked in ("", "zero") else "Tokens are replaced by token 0."
    enough = reference is not None and len(reference) > 1
    chosen = asked or ("mean" if kind == "features" and enough else "zero")
    values = row.astype(np.float64)
    said = ""
    if chosen == "mean":
        made, said = _mean(values, channel_axis if kind == "image" else None, reference if enough else None)
    elif chosen == "blur":
        made = _blurred(values, channel_axis, kind)
    elif chosen in ("low", "high"):
        made = np.full_like(values, values.min() if chosen == "low" else values.max())
    elif chosen == "noise":
        low, high = float(values.min()), float(values.max())
        made = np.random.default_rng(seed).uniform(low, high if high > low else low + 1.0, values.shape)
    else:
        made = np.full_like(values, zero)
    if row.dtype.kind in "iu":
        info = np.iinfo(row.dtype)
        made = np.clip(np.round(made), info.min, info.max)
    return made.astype(row.dtype), chosen, said


def _mean(
    values: npt.NDArray[Any], channel_axis: int | None, reference: npt.NDArray[Any] | None
) -> tuple[npt.NDArray[Any], str]:
    if reference is not None:
        mean = reference.astype(np.float64).mean(axis=0, keepdims=True)
        return np.broadcast_to(mean, values.shape).copy(), f"The mean of {len(reference):,} rows of the data."
    axes = tuple(axis for axis in range(1, values.ndim) if channel_axis is None or axis != channel_axis + 1)
    mean = values.mean(axis=axes, keepdims=True)
    return np.broadcast_to(mean, values.shape).copy(), "There is no data: the mean of the sample itself."


def _blurred(values: npt.NDArray[Any], channel_axis: int | None, kind: InputKind) -> npt.NDArray[Any]:
    """A Gaussian blur along the axes of space (or time), with a standard deviation of a tenth of their length."""
    made = values
    if kind == "features":
        return np.full_like(values, values.mean())
    for axis in range(1, values.ndim):
        if channel_axis is not None and axis == channel_axis + 1:
            continue
        size = values.shape[axis]
        deviation = max(_BLUR_SHARE * size, 1e-6)
        distance = np.arange(size)[:, None] - np.arange(size)[None, :]
        weights = np.exp(-0.5 * (distance / deviation) ** 2)
        weights /= weights.sum(axis=1, keepdims=True)
        made = np.moveaxis(np.tensordot(weights, made, axes=(1, axis)), 0, axis)
    return made


REFERENCE_ROWS = 256


@dataclass(frozen=True)
class Explained:
    """One row for each input, (1, …); rows of the data beside it."""

    feed: Feed
    reference: Feed
    """At most `REFERENCE_ROWS` rows; empty for random input."""
    source: str
    """"dummy" or the data file's name."""
    place: int
    classes: tuple[str, ...] = ()
    """Names of the classes in the order of their numbers, where the data has them. Hostile text."""


def explained_row(context: TaskContext, architecture: Architecture, runner: Runner, place: int, seed: int) -> Explained:
    """Row `place` of files["data"], prepared as params["preparation"] says, or of random input where there is no data.

    Raises:
        BadInput: there is no such row, or the model does not take it.
        UnreadableFile, UnsafeFile, TooLarge, BadSetting: as `DataReader.open`.
    """
    with ModelRows(context, architecture, runner, seed=seed) as given:
        _, feed = given.at([place])
        reference: Feed = {}
        if given.source != "dummy" and given.rows > 1:
            try:
                _, reference = next(given.batches(REFERENCE_ROWS, REFERENCE_ROWS), (None, {}))
            except (BadInput, TooLarge):
                # The mean of the data is a baseline one may do without; another row's fault is not this row's.
                reference = {}
        names = given.batching.names
        one = {name: array[:1] if name in names and array.ndim else array for name, array in feed.items()}
        return Explained(one, reference, given.source, place, tuple(given.classes))


def as_plain(array: Any) -> Any:
    """Half precision as float32, which every reader of .npy knows."""
    return array.astype(np.float32) if array.dtype.name in ("bfloat16", "float16") else array


_CHANNELS = (1, 2, 3, 4)
_LOOKUPS = ("Embedding", "Gather", "GatherV2", "ResourceGather", "EMBEDDING_LOOKUP", "GATHER", "GatherElements")
_OVER_TIME = ("LSTM", "GRU", "SimpleRNN", "RNN", "Bidirectional", "Conv1D", "SeparableConv1D", "TimeDistributed")
_PASSING = (
    "InputLayer",
    "Input",
    "Cast",
    "Identity",
    "Reshape",
    "ExpandDims",
    "Squeeze",
    "CAST",
    "Masking",
    "Flatten",
    "ReadVariableOp",
    "Placeholder",
    "RESHAPE",
    "Unsqueeze",
    "PartitionedCall",
    "StatefulPartitionedCall",
)


def kind_of(name: str, row: npt.NDArray[Any], architecture: Architecture) -> tuple[InputKind, int | None]:
    """What the input `name` is, and which axis of one row holds its channels.

    Args:
        name: of the input.
        row: (1, …), as it is fed.
        architecture: tells what reads it.
    """
    shape = row.shape[1:]
    if len(shape) == 3:
        if shape[-1] in _CHANNELS or shape[0] not in _CHANNELS:
            return "image", 2
        return "image", 0
    readers = _readers(name, architecture)
    looked_up = any(layer.type.rsplit(".", 1)[-1] in _LOOKUPS for layer in readers)
    if len(shape) == 1:
        whole = row.dtype.kind in "iu"
        if (looked_up and (whole or _whole_valued(row))) or (whole and _any_lookup(architecture)):
            return "tokens", None
        return "features", None
    if len(shape) == 2:
        over_time = any(layer.type.rsplit(".", 1)[-1].startswith(_OVER_TIME) for layer in architecture.layers)
        if not over_time and min(shape) >= 8:
            return "image", None
        return "sequence", 1
    return "features", None


def lookup_of(name: str, architecture: Architecture) -> list[str]:
    """Paths of the operators that look this input up in a table of numbers, as it is or after a cast or reshape."""
    return [layer.path for layer in _readers(name, architecture) if layer.type.rsplit(".", 1)[-1] in _LOOKUPS]


def _readers(name: str, architecture: Architecture) -> list[Layer]:
    """What reads an input, first without anything between that changes its values."""
    by_source: dict[str, list[Layer]] = {}
    for layer in architecture.layers:
        for source in layer.inputs:
            by_source.setdefault(source, []).append(layer)
    starts = [layer for layer in architecture.layers if layer.path == name]
    if not starts and not by_source.get(name) and len(architecture.inputs) == 1:
        starts = [layer for layer in architecture.layers if not layer.inputs][:1]
    queue, seen, found = deque([*starts, *by_source.get(name, [])]), set(), []
    while queue:
        layer = queue.popleft()
        if layer.path in seen:
            continue
        seen.add(layer.path)
        found.append(layer)
        if layer.type.rsplit(".", 1)[-1] in _PASSING:
            queue.extend(by_source.get(layer.path, []))
    return found


def _any_lookup(architecture: Architecture) -> bool:
    return any(layer.type.rsplit(".", 1)[-1] in _LOOKUPS for layer in architecture.layers)


def _whole_valued(row: npt.NDArray[Any]) -> bool:
    return bool((row == row.round()).all())
