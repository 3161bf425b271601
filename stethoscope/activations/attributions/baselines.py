"""What stands for "nothing here" in an input: black, the mean of the data, a blur of the sample, noise.

Source: Sturmfels, Lundberg and Lee, "Visualizing the Impact of Feature Attribution Baselines", Distill 2020.

The row of the data that is explained, as the model gets it, and some others to compare it with.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.activations.attributions.method import InputKind
from stethoscope.activations.model_rows import ModelRows
from stethoscope.errors import BadInput, BadSetting, TooLarge
from stethoscope.task import TaskContext
from stethoscope.types import Architecture, Feed, Runner

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
