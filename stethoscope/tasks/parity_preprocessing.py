"""What goes into the second model: other preprocessing is tried, and values that its quantised inputs cut off are counted."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy.typing as npt

from stethoscope.errors import StethoscopeError
from stethoscope.parity.array_difference import array_difference
from stethoscope.parity.orientation import orient
from stethoscope.tasks.parity_side import Side
from stethoscope.types import Feed

_EXPLAINED = 0.05
"""A change of the input counts when it leaves no more than this share of the difference."""


class Turns(Protocol):
    """The first model's rows as the second takes them."""

    def feed(self, feed: Feed) -> Feed:
        """The feed of the second."""
        ...


_CUT = 0.01
"""Share of an input's values beyond its range that makes a difference of its own."""


def cut_off(clipped: Mapping[str, tuple[float, float, float]], name: str) -> dict[str, Any] | None:
    """What quantised inputs of a model cut off, told as `tried_inputs` does; None where it is little."""
    worst = max(clipped, key=lambda one: clipped[one][2], default=None)
    if worst is None or clipped[worst][2] < _CUT:
        return None
    low, high, share = clipped[worst]
    return {
        "id": "clipped-input",
        "cause_id": "clipped-range",
        "title": "The input's range is clipped",
        "sentence": f"Input {worst!r} of {name} holds {low:.4g} to {high:.4g}; {share:.0%} of these values lie beyond and are cut off.",
        "fix": "Compare with rows like those of use, or quantise again with rows like these.",
        "confidence": 0.9,
        "explains": None,
    }


def tried_inputs(
    second: Side, turns: Turns, feed: Feed, left: Feed, outputs: Sequence[Mapping[str, Any]]
) -> dict[str, Any] | None:
    """The change of the input with which the second model answers as the first does; None where none of the usual ones does.

    Returns:
        {"id", "title", "sentence", "fix", "confidence", "explains"}.
    """
    pictures = {name: array for name, array in feed.items() if array.dtype.kind == "f" and array.ndim >= 2}
    if not pictures or not outputs:
        return None
    compared = [(one["a"], one["b"]) for one in outputs if left[one["a"]].dtype.kind == "f"]
    before = _apart(second, turns.feed(feed), left, compared)
    if not compared or before is None or before == 0:
        return None
    best: tuple[float, str, str] | None = None
    for key, said, change in _CHANGES:
        if not all(_applies(key, array) for array in pictures.values()):
            continue
        changed = feed | {name: change(array).astype(array.dtype) for name, array in pictures.items()}
        try:
            apart = _apart(second, turns.feed(changed), left, compared)
        except StethoscopeError:
            continue
        if apart is not None and apart <= _EXPLAINED * before and (best is None or apart < best[0]):
            best = (apart, key, said)
    if best is None:
        return None
    explains = 1 - best[0] / before
    return {
        "id": best[1],
        "cause_id": "preprocessing",
        "title": "Preprocessing inside or outside the model",
        "sentence": f"Given {best[2]}, the second model answers as the first does ({explains:.1%} of the difference is gone).",
        "fix": f"Feed the second model {best[2]}, or put that step into both.",
        "confidence": 0.98,
        "explains": explains,
    }


def _apart(second: Side, feed: Feed, left: Feed, compared: Sequence[tuple[str, str]]) -> float | None:
    found = second.outputs(feed)
    total = 0.0
    for a, b in compared:
        if b not in found:
            return None
        turned_one = orient(left[a], found[b])
        if turned_one is None:
            return None
        off = array_difference(left[a], turned_one[1]).nrmse
        if not math.isfinite(off):
            return None
        total += off
    return total


def _applies(key: str, array: npt.NDArray[Any]) -> bool:
    if key == "channels":
        return array.ndim == 4 and array.shape[-1] == 3
    if key == "channels-first":
        return array.ndim == 4 and array.shape[1] == 3
    return True


_CHANGES: tuple[tuple[str, str, Any], ...] = (
    ("channels", "its channels in reverse order (BGR for RGB)", lambda x: x[..., ::-1]),
    ("channels-first", "its channels in reverse order (BGR for RGB)", lambda x: x[:, ::-1]),
    ("divided", "its input divided by 255", lambda x: x / 255),
    ("times", "its input times 255", lambda x: x * 255),
    ("to-plus-minus", "its input divided by 127.5, less 1", lambda x: x / 127.5 - 1),
    ("from-plus-minus", "its input plus 1, times 127.5", lambda x: (x + 1) * 127.5),
    ("doubled", "twice its input, less 1", lambda x: 2 * x - 1),
    ("halved", "its input plus 1, divided by 2", lambda x: (x + 1) / 2),
    ("negative", "its input with the sign turned", lambda x: -x),
    ("inverted", "1 less its input", lambda x: 1 - x),
)
