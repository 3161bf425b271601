"""Targets in the encoding that a loss reads: class numbers, one-hot rows, 0 and 1. Training and validation rows alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.architecture.losses import CATEGORICAL_LOSSES, SPARSE_LOSSES, canonical_loss, serialised
from stethoscope.errors import CannotRun
from stethoscope.program.setup import Setup

Array = npt.NDArray[Any]
MOST_CLASSES = 10_000
"""More different whole numbers than this are taken for a quantity, not for classes."""


def output_index(setup: Setup, output: str) -> int:
    """The place of an output among `y` and `losses`; "" is the only or the first one.

    Raises:
        CannotRun: there is no such output.
    """
    if output in setup.outputs:
        return setup.outputs.index(output)
    if not output or len(setup.y) <= 1:
        return 0
    raise CannotRun(f"Output {output!r}: expected one of {list(setup.outputs)}. Nothing was changed.")


def with_loss(setup: Setup, output: str, loss: str, from_logits: bool, units: int | None = None) -> Setup:
    """A copy that trains `output` with `loss`, its targets encoded for it.

    Args:
        units: size of the output's last axis; read off the model when None.
    """
    index = output_index(setup, output)
    width = units if units is not None else output_units(setup, index)
    targets, held = _pair(setup, index)
    fitted, fitted_val = fitted_to(loss, width, targets, held)
    said: Any = serialised(loss, True) if from_logits else loss
    return _with_pair(setup, index, fitted, fitted_val, said)


def with_encoding(
    setup: Setup, output: str, encoding: str, classes: int | None, factor: float | None, loss: str
) -> Setup:
    """A copy whose targets of `output` are encoded as `EncodeLabels` says, with a loss that reads them.

    Raises:
        CannotRun: these targets cannot be encoded so.
    """
    index = output_index(setup, output)
    targets, held = _pair(setup, index)
    name, config = canonical_loss(setup.losses[index]) if setup.losses else ("", {})
    logits = bool(config.get("from_logits"))
    matching = ""
    if encoding == "integer":
        targets, held = class_numbers(targets, held)
        matching = "sparse_categorical_crossentropy" if name == "categorical_crossentropy" else ""
    elif encoding == "one-hot":
        width = classes or output_units(setup, index)
        targets, held = one_hot(targets, held, width)
        matching = "categorical_crossentropy" if name == "sparse_categorical_crossentropy" else ""
    elif encoding == "zero-one":
        targets, held = zero_one(targets, held)
    elif encoding == "zero-based":
        first, second = class_numbers(targets, held)
        targets = first.reshape(targets.shape) if first.size == targets.size else first
        held = (
            second.reshape(held.shape)
            if held is not None and second is not None and second.size == held.size
            else second
        )
    else:
        scale = 1.0 if factor is None else factor
        targets = _whole(targets * scale)
        held = None if held is None else _whole(held * scale)
    said: Any = setup.losses[index] if setup.losses else None
    if loss or matching:
        said = serialised(loss or matching, True) if logits else loss or matching
    return _with_pair(setup, index, targets, held, said)


def reshaped(setup: Setup, output: str, shape: Sequence[int]) -> Setup:
    """A copy whose targets of `output` have `shape` per row.

    Raises:
        CannotRun: the numbers do not fit.
    """
    index = output_index(setup, output)
    targets, held = _pair(setup, index)
    try:
        targets = targets.reshape((len(targets), *shape))
        held = None if held is None else held.reshape((len(held), *shape))
    except ValueError as error:
        raise CannotRun(
            f"Targets of shape {targets.shape}: expected to fit {tuple(shape)} per row. {error}."
        ) from error
    return _with_pair(setup, index, targets, held, setup.losses[index] if setup.losses else None)


def fitted_to(loss: str, units: int | None, y: Array, held: Array | None) -> tuple[Array, Array | None]:
    """Returns (targets, validation targets) as `loss` on `units` reads them; unchanged where nothing needs to change."""
    if y.dtype.kind not in "biuf":
        return y, held
    column = y.ndim == 1 or y.shape[-1] == 1
    hot = is_one_hot(y)
    if loss in SPARSE_LOSSES and (hot or column):
        return class_numbers(y, held)
    if loss in CATEGORICAL_LOSSES and (column or hot):
        return one_hot(y, held, units)
    if loss.startswith("binary_"):
        if units == 1 and hot and y.shape[-1] == 2:
            first, second = class_numbers(y, held)
            return _column(first), None if second is None else _column(second)
        if column and units is not None and units > 1:
            return one_hot(y, held, units)
        if column and len(np.unique(y)) == 2:
            return zero_one(y, held)
    if units == 1 and hot and loss.startswith("mean_"):
        first, second = class_numbers(y, held)
        return _column(first), None if second is None else _column(second)
    return y, held


def is_one_hot(y: Array) -> bool:
    """Whether rows hold a single one among zeros."""
    if y.ndim < 2 or y.shape[-1] < 2 or y.dtype.kind not in "biuf":
        return False
    values = y.astype(np.float64)
    return bool(np.isin(values, (0.0, 1.0)).all() and (values.sum(axis=-1) == 1).all())


def class_numbers(y: Array, held: Array | None) -> tuple[Array, Array | None]:
    """Class numbers from 0: the column of one-hot rows, else the rank of the value among all values.

    Raises:
        CannotRun: more values than any classification has.
    """
    if y.ndim > 1 and y.shape[-1] > 1 and (is_one_hot(y) or y.dtype.kind == "f"):
        return y.argmax(axis=-1).astype(np.int64), None if held is None else held.argmax(axis=-1).astype(np.int64)
    values = _values(y, held)
    whole = values.dtype.kind in "biu" or bool(np.all(np.mod(values, 1) == 0))
    ready = whole and values.size > 0 and values[0] >= 0 and values[-1] < values.size
    if whole and values.size > 0 and values[0] == 0 and values[-1] <= MOST_CLASSES:
        ready = True

    def numbers(array: Array) -> Array:
        found = array if ready else np.searchsorted(values, array)
        flat = found.reshape(found.shape[:-1]) if found.ndim > 1 and found.shape[-1] == 1 else found
        return flat.astype(np.int64)

    return numbers(y), None if held is None else numbers(held)


def one_hot(y: Array, held: Array | None, units: int | None) -> tuple[Array, Array | None]:
    """One-hot rows with a column for each class, at least `units`; rows that are one-hot already stay."""
    if is_one_hot(y):
        return y, held
    first, second = class_numbers(y, held)
    largest = int(max(first.max(initial=0), second.max(initial=0) if second is not None else 0)) + 1
    width = max(units or 0, largest)
    if width * first.size > 200_000_000:
        raise CannotRun(f"Labels: expected fewer classes to write as one-hot rows, got {width}. Use a sparse loss.")

    def rows(numbers: Array) -> Array:
        out = np.zeros((*numbers.shape, width), np.float32)
        np.put_along_axis(out, numbers[..., None], 1.0, axis=-1)
        return out

    return rows(first), None if second is None else rows(second)


def zero_one(y: Array, held: Array | None) -> tuple[Array, Array | None]:
    """The lower value as 0, the higher as 1.

    Raises:
        CannotRun: not two values.
    """
    values = _values(y, held)
    if values.size != 2:
        raise CannotRun(f"Labels: expected two values to write as 0 and 1, got {values.size}. Nothing was changed.")
    high = values[1]
    return (y == high).astype(np.float32), None if held is None else (held == high).astype(np.float32)


def output_units(setup: Setup, index: int) -> int | None:
    """Size of an output's last axis as its last layer with units says; None when that cannot be told."""
    from stethoscope.program.model_config import settings_with, structure
    from stethoscope.program.model_graph import is_sequential, refs

    try:
        config = structure(setup)
    except CannotRun:
        return None
    entries = config["config"]["layers"]
    by_name = {str(entry["config"].get("name") or entry.get("name")): entry for entry in entries}
    if is_sequential(config):
        chain = list(reversed(entries))
    else:
        ends = [place[0] for place in refs(config["config"].get("output_layers"))]
        chain = []
        name = ends[index] if index < len(ends) else ""
        while name in by_name and len(chain) < 12:
            chain.append(by_name[name])
            sources = [place[0] for place in refs(by_name[name].get("inbound_nodes"))]
            name = sources[0] if len(sources) == 1 else ""
    for entry in chain:
        if isinstance(entry["config"].get("layers"), list):
            return None
        for size in ("units", "filters"):
            for found in settings_with(entry, size):
                return int(found[size])
    return None


def _values(y: Array, held: Array | None) -> Array:
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise CannotRun("Labels: expected numbers, got NaN or infinity among them. Leave those rows out first.")
    values = np.unique(y) if held is None else np.union1d(np.unique(y), np.unique(held))
    if values.size > MOST_CLASSES:
        raise CannotRun(f"Labels: expected classes, got {values.size:,} different values. Use a loss for numbers.")
    return np.asarray(values)


def _whole(array: Array) -> Array:
    return np.rint(array).astype(np.int64)


def _column(array: Array) -> Array:
    return array.reshape(-1, 1).astype(np.float32)


def _pair(setup: Setup, index: int) -> tuple[Array, Array | None]:
    if index >= len(setup.y):
        raise CannotRun("Targets: expected some to encode, got none. Give data with y.")
    return setup.y[index], setup.y_val[index] if index < len(setup.y_val) else None


def _with_pair(setup: Setup, index: int, y: Array, held: Array | None, loss: Any) -> Setup:
    targets, validation, losses = list(setup.y), list(setup.y_val), list(setup.losses)
    targets[index] = y
    if held is not None:
        validation[index] = held
    if index < len(losses):
        losses[index] = loss
    return setup.with_changes(y=tuple(targets), y_val=tuple(validation), losses=tuple(losses))
