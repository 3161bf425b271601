"""Samples in a row, as small pictures or words: a click chooses one, with Shift or Ctrl several."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dashboard import escape
from dashboard.components import component, nothing

FOLDER = Path(__file__).parent
TOLD = "picked"
_SMALL = 40


@dataclass(frozen=True)
class Card:
    """One sample. All text is hostile."""

    place: int
    name: str = ""
    label: str = ""
    words: str = ""
    """Shown where there is no picture."""
    png: bytes = b""
    width: int = 0
    """Of the picture, in pixels."""


def show(cards: Sequence[Card], chosen: Sequence[int], *, key: str) -> None:
    """Draws the samples. It tells {"place", "also"} of the one clicked as `TOLD`: see `dashboard.choices`."""
    component(FOLDER)(
        key=key,
        data={
            "samples": [
                {
                    "place": card.place,
                    "name": escape.clip(card.name, 80),
                    "label": escape.clip(card.label, 40),
                    "words": escape.clip(card.words, 90),
                    "picture": base64.b64encode(card.png).decode("ascii"),
                    "small": 0 < card.width <= _SMALL,
                }
                for card in cards
            ],
            "chosen": list(chosen),
            "hint": "click to choose, Shift-click to add",
        },
        default={TOLD: None},
        on_picked_change=nothing,
    )
