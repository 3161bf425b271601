"""Everything one training consists of, as plain values: what fixes change and what the loop runs.

Changes to a training's rows: scaling, gaps, columns, duplicates, the split. Statistics are those of the training rows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from stethoscope.errors import CannotRun
from stethoscope.types import Feed


@dataclass(frozen=True)
class Setup:
    """One training: model, compile settings, data and fit call. Never changed in place; fixes return changed copies."""

    config: dict[str, Any] | None
    """The model as Keras serialises it: {"class_name", "config", …}. None for a subclassed model that cannot be rebuilt from a config."""
    modern: bool
    """Keras 3 (True) or tf_keras (False)."""
    weights: tuple[npt.NDArray[Any], ...] | None
    """The file's weights, layer by layer; used where a layer's shapes still fit. None: new initial weights everywhere."""
    weight_layers: tuple[str, ...] = ()
    """For each of `weights`, the top-level layer that owns it. A layer that is not in it gets new initial weights."""
    from_file: bool = True
    """Whether the first seed starts from `weights`; other seeds never do, except in the layers of `keep_weights`."""
    keep_weights: frozenset[str] = frozenset()
    """Layers (by top-level name) whose weights are always taken from the file: frozen, pretrained parts."""
    losses: tuple[Any, ...] = ()
    """One per output: a name, or Keras' serialised loss {"class_name", "config"}; None for an output that is not trained."""
    loss_weights: tuple[float, ...] = ()
    """One per output; empty: all 1."""
    optimizer: Mapping[str, Any] = field(default_factory=dict)
    """{"class_name", "config"} with "learning_rate" in the config."""
    x: Feed = field(default_factory=dict)
    """Training inputs by input name, first axis rows."""
    y: tuple[npt.NDArray[Any], ...] = ()
    """Training targets, one per output, in the model's order."""
    x_val: Feed = field(default_factory=dict)
    y_val: tuple[npt.NDArray[Any], ...] = ()
    batch_size: int = 32
    epochs: float = 1
    shuffle: bool = True
    class_weight: Mapping[int, float] | None = None
    sample_weight: npt.NDArray[Any] | None = None
    """One number per training row, as given to `fit`."""
    decode_targets: tuple[float, float] | None = None
    """(mean, std) by which regression targets were standardised: scores are computed after undoing it."""
    outputs: tuple[str, ...] = ()
    """Names of the model's outputs, in the order of `y` and `losses`."""
    live: Any = field(default=None, compare=False, repr=False)
    """The loaded model itself, as long as `config` has not been changed; lives in a worker only."""

    def with_changes(self, **changes: Any) -> Self:
        """A copy with some fields replaced. A changed `config` lets go of the loaded model."""
        if "config" in changes and "live" not in changes:
            changes["live"] = None
        return replace(self, **changes)

    def without_weights(self, layers: Collection[str]) -> Self:
        """A copy in which these top-level layers start from new initial weights."""
        kept = [place for place, name in enumerate(self.weight_layers) if name not in layers]
        return replace(
            self,
            weights=None if self.weights is None else tuple(self.weights[place] for place in kept),
            weight_layers=tuple(self.weight_layers[place] for place in kept),
            keep_weights=self.keep_weights - frozenset(layers),
        )

    @property
    def rows(self) -> int:
        """Training rows."""
        return int(next(iter(self.x.values())).shape[0]) if self.x else 0

    @property
    def learning_rate(self) -> float | None:
        """The optimizer's constant rate; None for a schedule."""
        value = dict(self.optimizer.get("config", {})).get("learning_rate")
        return float(value) if isinstance(value, int | float) else None


Array = npt.NDArray[Any]
_SPLIT_SEED = 0


def scaled_inputs(setup: Setup, name: str, method: str, divisor: float | None) -> Setup:
    """A copy with scaled inputs: `name`, or every numeric input that feeds no Embedding when "".

    Columns of tables are scaled one by one, images and sequences of whole numbers as a whole.

    Raises:
        CannotRun: no such input, or tokens.
    """
    tokens = _feeds_tokens(setup)
    chosen = [name] if name in setup.x else list(setup.x) if not name or len(setup.x) == 1 else []
    numeric = [key for key in chosen if setup.x[key].dtype.kind in "biuf"]
    if not numeric or (tokens and len(setup.x) == 1):
        found = "tokens for an Embedding" if tokens else list(setup.x)
        raise CannotRun(f"Input {name!r}: expected numbers to scale, got {found}. Nothing was changed.")
    x, x_val = dict(setup.x), dict(setup.x_val)
    for key in numeric:
        shift, scale = (0.0, float(divisor or 255.0)) if method == "divide" else _scale(x[key], method)
        x[key] = _scaled(x[key], shift, scale)
        if key in x_val:
            x_val[key] = _scaled(x_val[key], shift, scale)
    return setup.with_changes(x=x, x_val=x_val)


def scaled_targets(setup: Setup, output: str, method: str) -> Setup:
    """A copy with scaled targets; `decode_targets` undoes it when scores are computed.

    Raises:
        CannotRun: several outputs, or targets that are constant or no numbers.
    """
    if len(setup.y) != 1 or setup.y[0].dtype.kind not in "biuf":
        raise CannotRun(f"Targets of {output or 'the model'}: expected one output with numbers. Nothing was changed.")
    y = setup.y[0].astype(np.float64)
    finite = y[np.isfinite(y)]
    if finite.size == 0 or finite.min() == finite.max():
        raise CannotRun("Targets: expected numbers that vary, got a constant. Nothing was changed.")
    low, spread = (finite.min(), np.ptp(finite)) if method == "minmax" else (finite.mean(), finite.std())
    shift, scale = float(low), float(spread)
    if setup.decode_targets is not None:
        mean, std = setup.decode_targets
        decode = (mean + std * shift, std * scale)
    else:
        decode = (shift, scale)
    return setup.with_changes(
        y=(_scaled(setup.y[0], shift, scale),),
        y_val=tuple(_scaled(item, shift, scale) for item in setup.y_val),
        decode_targets=decode,
    )


def shuffled_split(setup: Setup, validation_split: float) -> Setup:
    """A copy whose training and validation rows are drawn at random from all rows; validation keeps its size if it has one.

    Raises:
        CannotRun: too few rows to split.
    """
    x = {key: _joined(array, setup.x_val.get(key)) for key, array in setup.x.items()}
    y = tuple(_joined(array, setup.y_val[place] if setup.y_val else None) for place, array in enumerate(setup.y))
    rows = len(next(iter(x.values())))
    held = rows - setup.rows or round(rows * validation_split)
    if not 0 < held < rows:
        raise CannotRun(f"The split: expected rows on both sides, got {held} of {rows} for validation.")
    order = np.random.default_rng(_SPLIT_SEED).permutation(rows)
    first, second = order[:-held], order[-held:]
    return setup.with_changes(
        x={key: array[first] for key, array in x.items()},
        y=tuple(array[first] for array in y),
        x_val={key: array[second] for key, array in x.items()},
        y_val=tuple(array[second] for array in y),
        sample_weight=None,
    )


def finite_rows(setup: Setup) -> Setup:
    """A copy without rows that hold NaN or infinity in inputs or targets.

    Raises:
        CannotRun: no row is left.
    """
    return _kept(setup, _finite([*setup.x.values(), *setup.y]), _finite([*setup.x_val.values(), *setup.y_val]))


def without_duplicates(setup: Setup) -> Setup:
    """A copy without training rows that repeat an earlier one, and without validation rows that are among the training rows."""
    keys = _row_keys([*setup.x.values(), *setup.y])
    seen: set[bytes] = set()
    keep = np.zeros(len(keys), bool)
    for place, key in enumerate(keys):
        keep[place] = key not in seen
        seen.add(key)
    held = _row_keys([*setup.x_val.values(), *setup.y_val]) if setup.y_val else []
    keep_val = np.array([key not in seen for key in held], bool)
    return _kept(setup, keep, keep_val if keep_val.any() else np.ones(len(held), bool))


def filled(setup: Setup) -> Setup:
    """A copy in which NaN and infinities of the inputs are the column's median over the training rows, or 0 for empty columns."""
    x, x_val = dict(setup.x), dict(setup.x_val)
    for key, array in setup.x.items():
        if array.dtype.kind != "f":
            continue
        gaps = np.where(np.isfinite(array), array, np.nan).reshape(len(array), -1)
        full = ~np.isnan(gaps).all(axis=0)
        medians = np.zeros(gaps.shape[1])
        medians[full] = np.nanmedian(gaps[:, full], axis=0)
        middle = medians.reshape(array.shape[1:])
        x[key] = np.where(np.isfinite(array), array, middle).astype(array.dtype)
        if key in x_val:
            x_val[key] = np.where(np.isfinite(x_val[key]), x_val[key], middle).astype(array.dtype)
    return setup.with_changes(x=x, x_val=x_val)


def without_columns(setup: Setup, name: str, columns: Sequence[int]) -> Setup:
    """A copy without these columns (last axis) of the input, and a model whose input is as much narrower.

    Raises:
        CannotRun: no such input or column, or none would be left.
    """
    from stethoscope.program.model_config import with_input_shape

    key = name if name in setup.x else next(iter(setup.x)) if len(setup.x) == 1 else ""
    if not key:
        raise CannotRun(f"Input {name!r}: expected one of {list(setup.x)}. Nothing was changed.")
    array = setup.x[key]
    width = array.shape[-1] if array.ndim > 1 else 0
    gone = sorted({int(column) for column in columns})
    if not gone or gone[0] < 0 or gone[-1] >= width or len(gone) >= width:
        raise CannotRun(f"Input {key!r}: expected columns among {width} with some left over, got {gone}.")
    shape = (*array.shape[1:-1], width - len(gone))
    changed = with_input_shape(setup, key, shape)
    x = {**setup.x, key: np.delete(array, gone, axis=-1)}
    x_val = {**setup.x_val, key: np.delete(setup.x_val[key], gone, axis=-1)} if key in setup.x_val else setup.x_val
    return changed.with_changes(x=x, x_val=x_val)


def _scale(array: Array, method: str) -> tuple[Any, Any]:
    """(shift, scale), for each column of a table or channel of floats; one for all where columns are positions."""
    values = array.astype(np.float32)
    values = np.where(np.isfinite(values), values, np.nan)
    positions = array.ndim == 3 or (array.ndim > 2 and array.dtype.kind in "biu")
    axes = tuple(range(array.ndim)) if positions or array.ndim < 2 else tuple(range(array.ndim - 1))
    quiet: Callable[..., Any] = np.nan_to_num
    if method == "minmax":
        shift = quiet(np.nanmin(values, axis=axes))
        scale = quiet(np.nanmax(values, axis=axes)) - shift
    else:
        shift = quiet(np.nanmean(values, axis=axes, dtype=np.float64))
        scale = quiet(np.nanstd(values, axis=axes, dtype=np.float64))
    return shift, np.where(scale > 0, scale, 1.0)


def _scaled(array: Array, shift: Any, scale: Any) -> Array:
    return np.asarray((array.astype(np.float64) - shift) / scale, np.float32)


def _joined(first: Array, second: Array | None) -> Array:
    return first if second is None else np.concatenate([first, second])


def _finite(arrays: Sequence[Array]) -> npt.NDArray[np.bool_]:
    if not arrays:
        return np.zeros(0, bool)
    keep = np.ones(len(arrays[0]), bool)
    for array in arrays:
        if array.dtype.kind == "f":
            keep &= np.isfinite(array).reshape(len(array), -1).all(axis=1)
    return keep


def _row_keys(arrays: Sequence[Array]) -> list[bytes]:
    rows = len(arrays[0]) if arrays else 0
    flat = [np.ascontiguousarray(array).reshape(rows, -1) for array in arrays]
    return [b"\0".join(part[row].tobytes() for part in flat) for row in range(rows)]


def _kept(setup: Setup, keep: npt.NDArray[np.bool_], keep_val: npt.NDArray[np.bool_]) -> Setup:
    if not keep.any():
        raise CannotRun("The data: expected some rows to be left, got none. Nothing was changed.")
    return setup.with_changes(
        x={key: array[keep] for key, array in setup.x.items()},
        y=tuple(array[keep] for array in setup.y),
        x_val={key: array[keep_val] for key, array in setup.x_val.items()},
        y_val=tuple(array[keep_val] for array in setup.y_val),
        sample_weight=None if setup.sample_weight is None else setup.sample_weight[keep],
    )


def _feeds_tokens(setup: Setup) -> bool:
    from stethoscope.program.model_config import structure, walk

    if setup.config is None or not isinstance(setup.config.get("config", {}).get("layers"), list):
        return False
    return any(entry["class_name"] in ("Embedding", "TextVectorization") for _, entry in walk(structure(setup)))
