"""Parallel coordinates in the browser: one line per run through its parameters and results.

Drawn on a plain canvas, because Plotly's needs WebGL: on machines without a graphics card that takes many seconds, and
it cannot tell which run a line is.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dashboard import escape
from dashboard.components import SCRIPT, component
from stethoscope.logs.runs.axes import Axis

FOLDER = Path(__file__).parent
MAX_LINES = 3_000
"""Runs sent to the browser."""
_LONG_TITLE, _LONG_TICK, _MOST_TICKS = 28, 18, 14


class Column(NamedTuple):
    """One parameter or metric as an axis of a picture."""

    title: str
    axis: Axis


def show(columns: Sequence[Column], runs: Sequence[str], *, low_is_good: bool, key: str) -> None:
    """Draws the picture, coloured by the last column, its good end the most visible.

    Args:
        columns: the axes from left to right, each with a place for every run.
        runs: names, for what the pointer is at. At most 3,000 are drawn.
        low_is_good: whether low values of the last column are the good ones.
        key: the widget's key.
    """
    component(FOLDER, ("picture.js", "pointer.js", SCRIPT))(
        key=key,
        data={
            "columns": [_axis(one) for one in columns],
            "runs": [escape.clip(name, 80) for name in runs[:MAX_LINES]],
            "lowIsGood": low_is_good,
        },
    )


def _axis(one: Column) -> dict[str, Any]:
    ticks = one.axis.ticks
    if len(ticks) > _MOST_TICKS and one.axis.kind == "name":
        ticks = ticks[:: -(-len(ticks) // _MOST_TICKS)]
    room = one.axis.high - one.axis.low or 1.0
    share = (one.axis.position[:MAX_LINES] - one.axis.low) / room
    return {
        "title": escape.clip(one.title, _LONG_TITLE),
        "full": escape.clip(one.title, 120),
        "ticks": [[(place - one.axis.low) / room, escape.clip(text, _LONG_TICK)] for place, text in ticks],
        # Shares of the axis' height: a browser has no use for more digits than a screen has pixels.
        "shares": np.round(share, 4).tolist(),
    }
