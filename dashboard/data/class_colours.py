"""The colour of each class: the same on every page and for every sample, safe for colour-blind readers."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence

from dashboard import figures

COLOURS = (figures.BLUE, figures.ORANGE, figures.GREEN, figures.PURPLE, figures.SKY, figures.VERMILION, figures.YELLOW)


def colours_of(labels: Iterable[str], classes: Sequence[str]) -> list[list[object]]:
    """[label, colour, whether it is a repeated one] of each label, as components take them.

    A colour belongs to the place of a class among `classes`, else to the number it is named by, else to its name. After the
    seventh class the colours begin again, drawn hollow or dashed.
    """
    known = {label: place for place, label in reversed(list(enumerate(classes)))}
    made: list[list[object]] = []
    for label in dict.fromkeys(labels):
        place = known[label] if label in known else _place(label)
        made.append([label, COLOURS[place % len(COLOURS)], (place // len(COLOURS)) % 2 == 1])
    return made


def _place(label: str) -> int:
    number = label.isascii() and label.isdecimal() and len(label) < 7
    return int(label) if number else zlib.crc32(label.encode("utf-8", "replace"))
