"""Finds the place in Keras, TensorFlow, LiteRT or tf2onnx that a message comes from, by the words that are fixed in it.

Words of another version differ, and pastes are cut: it is enough that most of the fixed words stand there, in their order.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_TABLE = Path(__file__).with_name("sites.txt")
_FILLED = re.compile(r"⟪([^⟫]*)⟫")
_SENTENCE = re.compile(r"(?<=[.:]) ")
"""Versions often differ in one sentence of several: each is looked for by itself."""
_MOST_VALUE = 200
"""Characters of what is filled in, between two fixed parts."""
MOST_SAID = 4_000
"""Characters of a message that are looked at."""
_LEAST_SHARE = 0.6
"""Of the fixed words, those that have to stand there."""
_LEAST_FIXED = 24
"""Characters of fixed words that have to stand there in any case."""


@dataclass(frozen=True)
class Site:
    """A place that raises.

    Attributes:
        exception: the class of what it raises.
        raises: the public name that leads there (keras.layers.Conv2D.build), or the module and function.
        condition: what is tested above it; "" where nothing is.
        fixed: the parts of its text that are always the same, a sentence each.
        filled: the expressions between them; "" for one without a name.
    """

    exception: str
    raises: str
    condition: str
    fixed: tuple[str, ...]
    filled: tuple[str, ...]
    anchor: str
    """The longest of the fixed parts."""


@dataclass(frozen=True)
class Place:
    """Where a message comes from, and what is filled in."""

    site: Site
    at: int
    """Where its first words stand in the message."""
    share: float
    """Of its fixed words, those that stand there."""
    values: Mapping[str, str]


@functools.cache
def versions() -> str:
    """What the table was made of, as “keras 3.15.1 …”."""
    return _TABLE.read_text("utf-8").partition("\n")[0].removeprefix("# ")


@functools.cache
def sites() -> Sequence[Site]:
    """Every place."""
    found = []
    for line in _TABLE.read_text("utf-8").splitlines()[1:]:
        exception, raises, condition, text = line.split("\t")
        parts = _FILLED.split(text)
        fixed, filled = list[str](), list[str]()
        for part, name in zip(parts[::2], [*parts[1::2], ""], strict=True):
            sentences = _SENTENCE.split(part)
            fixed.extend(sentences)
            filled.extend(["" for _ in sentences[1:]] + [name])
        anchor = max(fixed, key=len).strip()
        found.append(Site(exception, raises, condition, tuple(fixed), tuple(filled[:-1]), anchor))
    return found


def place_of(said: str, exception: str) -> Place | None:
    """The place that most of a message's words are of.

    Args:
        said: the message, white space as single blanks.
        exception: its class; "" where none is named.
    """
    said = said[:MOST_SAID]
    best, best_order = None, (0.0, 0.0)
    for site in sites():
        if site.anchor not in said or (exception and site.exception != exception):
            continue
        place, length = _held(site, said)
        if place is not None and (order := (float(length), place.share)) > best_order:
            best, best_order = place, order
    return best


def _held(site: Site, said: str) -> tuple[Place | None, int]:
    """Goes through the fixed parts in their order, from the longest one on; each is looked for once, so no text is slow."""
    middle = next(number for number, part in enumerate(site.fixed) if part.strip() == site.anchor)
    at = said.find(site.anchor)
    spans: dict[int, tuple[int, int]] = {middle: (at, at + len(site.anchor))}
    start = at
    for number in range(middle - 1, -1, -1):
        part = site.fixed[number].strip()
        before = said.rfind(part, max(0, start - _MOST_VALUE - len(part)), start) if part else start
        if before < 0:
            break
        start = before
        spans[number] = (before, before + len(part))
    end = at + len(site.anchor)
    for number in range(middle + 1, len(site.fixed)):
        part = site.fixed[number].strip()
        after = said.find(part, end, end + _MOST_VALUE + len(part)) if part else end
        if after < 0:
            break
        spans[number] = (after, after + len(part))
        end = after + len(part)
    length = sum(stop - first for first, stop in spans.values())
    share = length / max(1, sum(len(part.strip()) for part in site.fixed))
    if length < _LEAST_FIXED or share < _LEAST_SHARE:
        return None, 0
    return Place(site, start, share, _values(site, said, spans)), length


def _values(site: Site, said: str, spans: Mapping[int, tuple[int, int]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for number, name in enumerate(site.filled):
        if name and number in spans and number + 1 in spans:
            begin, stop = spans[number][1], spans[number + 1][0]
            value = said[begin : stop if site.fixed[number + 1].strip() else begin + _MOST_VALUE].strip(" '\"`.,;")
            if value and len(value) <= _MOST_VALUE:
                found.setdefault(name.removeprefix("self."), value)
    return found
