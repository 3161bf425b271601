"""Attributions over the sample itself: a coloured layer on a picture, or coloured tokens."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dashboard import escape
from dashboard.components import SCRIPT, component

FOLDER = Path(__file__).parent
_SCRIPTS = ("../map_grid/palette.js", SCRIPT)
MOST_PIXELS = 512 * 512
MOST_TOKENS = 2_048
_OUTER = 99.5
"""Percentile of the sizes at which the colours end, so that one extreme pixel does not hide all others."""


def over_picture(picture: npt.NDArray[Any], values: npt.NDArray[Any], *, signed: bool, smooth: bool, key: str) -> None:
    """Draws `values` over a picture.

    Args:
        picture: (height, width, 3) uint8.
        values: (down, across) attributions; stretched over the picture.
        signed: whether values below 0 speak against the score.
        smooth: whether a coarse grid is smoothed.
        key: the widget's key.
    """
    step = 1
    while picture[::step, ::step].shape[0] * picture[::step, ::step].shape[1] > MOST_PIXELS:
        step += 1
    shown = np.ascontiguousarray(picture[::step, ::step])
    heat = values
    while heat.size > MOST_PIXELS:
        heat = heat[::2, ::2]
    most = extent_of(heat)
    shares = np.clip(np.nan_to_num(heat) / most, -1 if signed else 0, 1)
    coded = np.round(127.5 + 127.5 * shares if signed else 255 * shares).astype(np.uint8)
    component(FOLDER, _SCRIPTS)(
        key=key,
        data={
            "kind": "image",
            "picture": base64.b64encode(shown.tobytes()).decode("ascii"),
            "height": shown.shape[0],
            "width": shown.shape[1],
            "heat": base64.b64encode(coded.tobytes()).decode("ascii"),
            "down": coded.shape[0],
            "across": coded.shape[1],
            "most": most,
            "signed": signed,
            "smooth": smooth,
        },
    )


def over_tokens(tokens: Sequence[str], values: npt.NDArray[Any], *, signed: bool, key: str) -> None:
    """Draws tokens, each on the colour of its value."""
    most = extent_of(values)
    shares = np.clip(np.nan_to_num(values) / most, -1 if signed else 0, 1)
    component(FOLDER, _SCRIPTS)(
        key=key,
        data={
            "kind": "tokens",
            "tokens": [escape.clip(token, 60) for token in tokens[:MOST_TOKENS]],
            "values": [float(value) for value in np.nan_to_num(values)[:MOST_TOKENS]],
            "shares": [round(float(share), 4) for share in shares[:MOST_TOKENS]],
            "signed": signed,
        },
    )


def extent_of(values: npt.NDArray[Any]) -> float:
    """The size at which colours end; above 0."""
    finite = np.abs(values[np.isfinite(values)])
    if not finite.size:
        return 1.0
    most = float(np.percentile(finite, _OUTER)) or float(finite.max())
    return most or 1.0
