"""Where values of a parameter or metric lie on an axis: numbers, numbers over decades, or names; and what has no place there."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

MOST_NAMES = 24
"""Different names an axis shows; the rarest of more share one place."""
MISSING, NOT_A_NUMBER, OTHERS = "none", "NaN", "others"
_LOGARITHMIC_FROM = 50.0
"""Largest over smallest value from which an axis of positive numbers is logarithmic."""
_LARGEST, _SMALLEST, _SAME = 1e300, 1e-300, 1e-9
"""Beyond the first, distances between doubles are none; numbers closer than the last, for their size, are drawn as one."""
_FEW = 8
_GAP = 0.14
"""Room between the numbers and a place for what is none, as a share of the axis."""


@dataclass(frozen=True)
class Axis:
    """One column on an axis. Positions of numbers are the numbers themselves, or their decimal logarithms."""

    kind: str
    """"number", "log" or "name"."""
    position: npt.NDArray[np.float64]
    """Of each run; always finite."""
    ticks: tuple[tuple[float, str], ...]
    """Position and text, ascending."""
    low: float
    high: float


def is_number(value: Any) -> bool:
    """Whether a value is a number; truth values are names."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def axis_of(values: Sequence[Any], *, nan_above: bool = False) -> Axis:
    """Places a column; None means that the run has none. NaN, infinities and None get places below and above the numbers.

    Args:
        values: one for each run.
        nan_above: whether NaN lies above the numbers, as it should where low values are the good ones.
    """
    known = [value for value in values if value is not None]
    if known and all(is_number(value) for value in known):
        return _numbers(values, nan_above)
    return _names(values)


def _numbers(values: Sequence[Any], nan_above: bool) -> Axis:
    number = np.array([math.nan if value is None else double(value) for value in values], np.float64)
    absent = np.array([value is None for value in values], bool)
    finite = np.isfinite(number)
    number[finite] = np.clip(number[finite], -_LARGEST, _LARGEST)
    kept = number[finite]
    logarithmic = len(kept) > 0 and bool(kept.min() > 0) and float(kept.max()) >= _LOGARITHMIC_FROM * float(kept.min())
    shown = np.log10(kept) if logarithmic else kept
    low, high = (float(shown.min()), float(shown.max())) if len(shown) else (0.0, 1.0)
    if high - low <= _SAME * max(abs(low), abs(high), _SMALLEST):
        half = max(abs(low), abs(high)) / 2 or 0.5
        low, high = low - half, high + half
    ticks = [(float(place), text) for place, text in _number_ticks(kept, shown, low, high, logarithmic)]
    position = np.full(len(number), low)
    position[finite] = shown
    step = _GAP * (high - low)
    bottom, top = low, high
    nan = np.isnan(number) & ~absent
    for chosen, text, above in (
        (np.isneginf(number), "−∞", False),
        (np.isposinf(number), "∞", True),
        (nan, NOT_A_NUMBER, nan_above),
        (absent, MISSING, False),
    ):
        if bool(chosen.any()):
            bottom, top = (bottom, top + step) if above else (bottom - step, top)
            position[chosen] = top if above else bottom
            ticks.append((top if above else bottom, text))
    return Axis("log" if logarithmic else "number", position, tuple(sorted(ticks)), bottom, top)


def double(value: int | float) -> float:
    """The number in double precision; whole numbers beyond it are infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _number_ticks(
    kept: npt.NDArray[np.float64], shown: npt.NDArray[np.float64], low: float, high: float, logarithmic: bool
) -> list[tuple[float, str]]:
    distinct = np.unique(kept)
    if len(distinct) <= _FEW:
        places = np.unique(shown)
        apart = [0] if len(places) else []
        for place in range(1, len(places)):
            if places[place] - places[apart[-1]] > 0.04 * (high - low):
                apart.append(place)
        return [(float(places[place]), _written(distinct[place])) for place in apart]
    if logarithmic:
        whole = range(math.ceil(low - 1e-9), math.floor(high + 1e-9) + 1)
        every = max(1, len(whole) // 8)
        found = [(float(power), _written(10.0**power)) for power in whole if power % every == 0]
        if len(found) >= 2:
            return found
        return [(place, _written(10.0**place)) for place in np.linspace(low, high, 5).tolist()]
    return [(place, _written(place)) for place in _round_steps(low, high)]


def _round_steps(low: float, high: float) -> list[float]:
    """About five multiples of 1, 2 or 5 times a power of ten within an interval."""
    rough = (high - low) / 7
    power = 10.0 ** math.floor(math.log10(rough)) if rough > 0 else 0.0
    if not power or not math.isfinite(power):
        return [low, high]
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    count = min(20, math.floor(high / step + 1e-9) - first + 1)
    return [(first + place) * step for place in range(count)] or [low, high]


def _written(value: float) -> str:
    text = f"{value:.4g}".replace("e-0", "e-").replace("e+0", "e").replace("e+", "e")
    return text.replace("-", "−")


def _names(values: Sequence[Any]) -> Axis:
    texts = [MISSING if value is None else name_of(value) for value in values]
    counts: dict[str, int] = {}
    for text in texts:
        counts[text] = counts.get(text, 0) + 1
    ordered = sorted(counts, key=lambda text: (text != MISSING, text))
    if len(ordered) > MOST_NAMES:
        often = sorted(ordered, key=lambda text: (text != MISSING, -counts[text], text))[: MOST_NAMES - 1]
        ordered = [*sorted(often, key=lambda text: (text != MISSING, text)), OTHERS]
    place = {text: float(at) for at, text in enumerate(ordered)}
    last = float(max(0, len(ordered) - 1))
    position = np.array([place.get(text, last) for text in texts], np.float64)
    ticks = tuple((at, text) for text, at in place.items())
    return Axis("name", position, ticks, -0.5, last + 0.5)


def name_of(value: Any) -> str:
    """A value as the text it is known by on an axis, in a filter and in groups."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return _written(float(value)) if isinstance(value, float) else str(value)
