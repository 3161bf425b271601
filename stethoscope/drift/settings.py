"""What a drift study is asked to do; the same for the command line, a saved monitor and the dashboard."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from stethoscope.drift.effects import PSI_LARGE, PSI_SMALL
from stethoscope.errors import BadSetting

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
