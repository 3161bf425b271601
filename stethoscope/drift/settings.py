"""What a drift study is asked to do; the same for the command line, a saved monitor and the dashboard.

How large a drift is, apart from how sure: PSI, Wasserstein, and words for them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from stethoscope.errors import BadSetting

Numbers = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]
Effect = Literal["negligible", "small", "large"]

PSI_SMALL, PSI_LARGE = 0.1, 0.25
"""Source: Siddiqi, "Credit Risk Scorecards" (2006): below 0.1 no significant change, above 0.25 a large one."""
_BINS = 10
_NO_ROWS = 0.5
"""What counts as the rows of a bin that has none on a side."""


def psi(reference: Counts, current: Counts) -> float:
    """Population stability index of two counts of the same bins or categories; 0 where the proportions are the same."""
    used = reference + current > 0
    first, second = np.maximum(reference[used], _NO_ROWS), np.maximum(current[used], _NO_ROWS)
    p, q = first / first.sum(), second / second.sum()
    return float(((q - p) * np.log(q / p)).sum())


def psi_by_chance(bins: int, reference: int, current: int) -> float:
    """The PSI to be expected of so many rows where nothing drifted.

    Source: Yurdakul and Naranjo, "Statistical properties of the population stability index", J. Risk Model Validation 14 (2020).
    """
    return (bins - 1) * (1 / max(1, reference) + 1 / max(1, current))


def decile_counts(reference: Numbers, current: Numbers) -> tuple[Counts, Counts]:
    """Rows of both sides between the deciles of the reference; fewer bins where values repeat."""
    edges = np.unique(np.quantile(reference, np.arange(1, _BINS) / _BINS))
    return tuple(  # type: ignore[return-value]
        np.bincount(np.searchsorted(edges, side, side="left"), minlength=len(edges) + 1)
        for side in (reference, current)
    )


def wasserstein(reference: Numbers, current: Numbers) -> float:
    """The mean distance values have to be moved, in standard deviations of the reference (of both sides where that is 0).

    NaN where the values are too large for a standard deviation.
    """
    from scipy.stats import wasserstein_distance

    with np.errstate(all="ignore"):
        spread = float(reference.std()) or float(np.concatenate([reference, current]).std())
    if not math.isfinite(spread):
        return math.nan
    if not spread:
        return 0.0
    return float(wasserstein_distance(reference, current) / spread)


def in_words(above_chance: float) -> Effect:
    """A PSI above what chance gives, as negligible, small or large."""
    return "negligible" if above_chance < PSI_SMALL else "small" if above_chance < PSI_LARGE else "large"


def as_auc(above_chance: float) -> float:
    """The area under the ROC curve at which two normal distributions lie that are this PSI apart.

    A shift by d standard deviations has the PSI d² and the area Φ(d / √2).
    """
    return 0.5 * math.erfc(-math.sqrt(max(0.0, above_chance)) / 2)


ROWS, MOST_ROWS = 50_000, 200_000
MEDIA_ROWS = 2_000
"""Rows read where each of them is a picture, a sound or a long array."""
_LONGEST_NAME = 500
_SIZES = {"": 0.0, "negligible": 0.0, "small": PSI_SMALL, "large": PSI_LARGE}


@dataclass(frozen=True)
class DriftSettings:
    """Everything that decides the answer beside the data."""

    alpha: float = 0.05
    """How often the verdict may be "drift" where there is none."""
    min_effect: float = 0.0
    """A smaller drift than this is no drift: PSI above what chance gives (0.1 is "small", 0.25 is "large")."""
    rows: int = ROWS
    """Rows of each side that are read at most, chosen at random."""
    seed: int = 0
    columns: tuple[str, ...] = ()
    """Only these columns; () for all."""
    ignore: tuple[str, ...] = ()
    time: str = ""
    """The column of moments; "" to look for one, "none" for none."""
    prediction: str = ""
    confidence: str = ""
    label: str = ""
    layer: str = ""
    """Of the model: the layer whose output is the embedding; "" for the last before the output."""
    whole_rows: bool = True
    """Whether rows are also compared as wholes (domain classifier, MMD)."""
    subgroups: bool = True

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> DriftSettings:
        """Reads and checks them; what is not named keeps its default, names of other settings are passed over.

        Raises:
            BadSetting: a value that makes no sense.
        """
        alpha = _number(value.get("alpha", cls.alpha), "alpha", 1e-6, 0.5)
        rows = _number(value.get("rows", cls.rows), "rows", 10, MOST_ROWS)
        return cls(
            alpha=alpha,
            min_effect=_effect(value.get("min_effect", "")),
            rows=int(rows),
            seed=int(_number(value.get("seed", 0), "seed", 0, 2**63 - 1)),
            columns=_names(value.get("columns"), "columns"),
            ignore=_names(value.get("ignore"), "ignore"),
            whole_rows=bool(value.get("whole_rows", True)),
            subgroups=bool(value.get("subgroups", True)),
            **{
                name: str(value.get(name) or "")[:_LONGEST_NAME]
                for name in ("time", "prediction", "confidence", "label", "layer")
            },
        )

    def to_json(self) -> dict[str, Any]:
        """JSON values that `from_json` reads."""
        found = {one.name: getattr(self, one.name) for one in fields(self)}
        return found | {"columns": list(self.columns), "ignore": list(self.ignore)}


def _number(value: Any, name: str, low: float, high: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise BadSetting(f"{name}: expected a number from {low:g} to {high:g}, got {str(value)[:40]!r}.")
    return value


def _effect(value: Any) -> float:
    if isinstance(value, str):
        if value in _SIZES:
            return _SIZES[value]
        try:
            value = float(value)
        except ValueError as error:
            raise BadSetting(
                f"min_effect: expected small, large or a number (PSI above chance), got {value[:40]!r}."
            ) from error
    return float(_number(value, "min_effect", 0, 100))


def _names(value: Any, name: str) -> tuple[str, ...]:
    if not value:
        return ()
    if not isinstance(value, list | tuple) or not all(isinstance(one, str) for one in value):
        raise BadSetting(f"{name}: expected a list of column names, got {str(value)[:40]!r}.")
    return tuple(one[:_LONGEST_NAME] for one in value)
