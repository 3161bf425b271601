"""Columns of moments: dates in words or seconds since 1970, as numbers in the order of time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.data.study.dates import DateReader

_NAME = re.compile(r"(?:.*[_ -])?(?:time|timestamp|ts|date|datetime|day|when|at|created|epoch)", re.I)
_EPOCH_S = (3e8, 4e9)
"""Seconds since 1970 from 1979 to 2096."""
_UNITS = (1.0, 1e3, 1e6, 1e9)


def looks_like_moments(name: str, values: npt.NDArray[np.float64]) -> bool:
    """Whether a column of numbers holds moments: its name says so, and all lie between 1979 and 2096."""
    finite = values[np.isfinite(values)]
    return bool(finite.size and _NAME.fullmatch(name.strip()) and _unit(finite) is not None)


def as_seconds(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Numbers of whichever unit since 1970 as seconds; other numbers as they are."""
    finite = values[np.isfinite(values)]
    return values / ((_unit(finite) if finite.size else None) or 1.0)


def seconds_of(texts: Sequence[Any] | npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Dates and times in words as seconds since 1970, UTC where they name no zone; NaN where one cannot be read."""
    reader = DateReader()
    found = (reader.read(str(text).strip()) for text in texts)
    return np.array([float("nan") if moment is None else moment.timestamp() for moment in found], np.float64)


def written(seconds: float) -> str:
    """A moment as ISO 8601 where it can be one, else as a number."""
    if _EPOCH_S[0] / 10 < seconds < _EPOCH_S[1]:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
    return f"{seconds:g}"


def _unit(values: npt.NDArray[np.float64]) -> float | None:
    low, high = float(values.min()), float(values.max())
    return next((unit for unit in _UNITS if low / unit >= _EPOCH_S[0] and high / unit <= _EPOCH_S[1]), None)
