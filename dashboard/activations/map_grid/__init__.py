"""Many small maps side by side, in one colour scale or each in its own; a click picks one."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dashboard import escape
from dashboard.components import SCRIPT, component, nothing

FOLDER = Path(__file__).parent
MOST_MAPS = 64
MOST_BYTES = 2 << 20
"""Of all maps drawn at once; larger ones are thinned."""
TOLD = "picked"


def show(
    maps: npt.NDArray[Any],
    places: Sequence[int],
    names: Sequence[str],
    *,
    scale: str,
    picked: int | None,
    limits: tuple[float, float] | None = None,
    side: int = 84,
    title: str = "Maps",
    note: str = "",
    key: str,
) -> None:
    """Draws maps. It tells the place of the map that is picked, or None, as `TOLD`: see `dashboard.choices`.

    Args:
        maps: (maps, height, width), at most `MOST_MAPS` of them.
        places: what each map is known by when it is picked.
        names: under each map; plain text.
        scale: "own" (each from its lowest to its highest), "shared", or "around_zero" (shared, coloured about 0).
        picked: the place that is picked.
        limits: lowest and highest of a shared scale; those of the maps drawn where it is None.
        side: smallest width of a map on the screen, in pixels.
        title: for readers that do not see.
        note: to the right, below.
        key: the widget's key.
    """
    drawn = _thinned(np.asarray(maps[:MOST_MAPS], np.float64))
    coded, told = encoded(drawn)
    finite = drawn[np.isfinite(drawn)]
    low, high = limits or ((float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0))
    component(FOLDER, ("palette.js", SCRIPT))(
        key=key,
        data={
            "bytes": base64.b64encode(coded.tobytes()).decode("ascii"),
            "height": drawn.shape[1],
            "width": drawn.shape[2],
            "maps": [
                {"place": place, "name": escape.clip(name, 40), "low": lowest, "high": highest, "broken": broken}
                for place, name, (lowest, highest, broken) in zip(places, names, told, strict=False)
            ],
            "scale": scale,
            "low": low,
            "high": high,
            "picked": picked,
            "side": side,
            "title": escape.clip(title),
            "note": escape.clip(note, 200),
        },
        default={TOLD: None},
        on_picked_change=nothing,
    )


def encoded(maps: npt.NDArray[Any]) -> tuple[npt.NDArray[np.uint8], list[tuple[float, float, int]]]:
    """Each map as bytes from 0 (its lowest value) to 254 (its highest), 255 for NaN and infinities.

    Returns:
        ((maps, height, width) uint8, for each map (lowest, highest, how many values are no numbers)).
    """
    finite = np.isfinite(maps)
    axes = (1, 2)
    low = np.where(finite, maps, np.inf).min(axis=axes)
    high = np.where(finite, maps, -np.inf).max(axis=axes)
    empty = ~finite.any(axis=axes)
    low, high = np.where(empty, 0.0, low), np.where(empty, 0.0, high)
    span = np.where(high > low, high - low, 1.0)[:, None, None]
    shares = (np.where(finite, maps, low[:, None, None]) - low[:, None, None]) / span
    coded = np.where(finite, np.round(254 * shares), 255).astype(np.uint8)
    broken = (~finite).sum(axis=axes)
    return coded, [(float(a), float(b), int(c)) for a, b, c in zip(low, high, broken, strict=True)]


def _thinned(maps: npt.NDArray[Any]) -> npt.NDArray[Any]:
    step = 1
    while maps[:, ::step, ::step].size > MOST_BYTES:
        step += 1
    return maps[:, ::step, ::step]
