"""What a kind of error message is: its wordings, what is read from them, and the cause in words.

A wording is looked for by a plain text first; its pattern only sees a window around it, so that no paste is slow to read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from stethoscope.types import Shape

BEFORE, AFTER = 400, 1_600
"""Characters around the plain text that a pattern sees."""
MOST_CHARACTERS = 200
"""Of one value that is read."""
SHAPE = r"[\[(]?(?:[\d?\-]+|None)?(?:, ?(?:[\d?\-]+|None))*,?[\])]?"
"""A shape as TensorFlow 1 to 2, Keras and ONNX write it: [32,10], (None, 28, 28), (?, 3), ()."""


DATA_SET = (
    r"(?:DatasetV1Adapter|_TensorDataset|_?(?:Batch|Cache|Concatenate|DirectedInterleave|Filter|FlatMap|FixedLengthRecord"
    r"|Flat|Generator|GroupBy\w{1,20}|Interleave|Map|MapAndBatch|Options|PaddedBatch|ParallelBatch|ParallelInterleave|ParallelMap"
    r"|Prefetch|Range|Rebatch|Repeat|Scan|Shard|Shuffle|ShuffleAndRepeat|Skip|Snapshot|Take|TakeWhile|TensorSlice|TextLine"
    r"|TFRecord|Unbatch|Window|Zip|Variant|_Fork)Dataset(?:V[12])?(?:V1Adapter)?)"
)
"""The classes of tf.data; other libraries have data sets of other names."""


class Certainty(StrEnum):
    """How sure the cause is."""

    CERTAIN = "certain"
    """The message itself says it."""
    LIKELY = "likely"
    """What it nearly always is."""
    POSSIBLE = "possible"
    """One of several causes that read the same."""


class Role(StrEnum):
    """What a message is to a program."""

    ERROR = "error"
    WARNING = "warning"
    """The program goes on, but not as it was meant."""
    NOTICE = "notice"
    """It means nothing by itself."""


@dataclass(frozen=True)
class Wording:
    """One way in which a message is worded.

    Attributes:
        has: plain text that is in it; white space counts as one blank, as a terminal may wrap lines.
        pattern: what is read around it, by named groups; "" where nothing is.
        beside: plain text that has to stand anywhere in what was pasted; "" for nothing.
        unless: plain text that may not stand anywhere in it; "" for nothing.
        line: whether `has` has to be a whole line.
        only: asked of what was read; False where it is not this kind after all.
    """

    has: str
    pattern: str = ""
    beside: str = ""
    unless: str = ""
    line: bool = False
    only: Callable[[Mapping[str, str]], bool] | None = None

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The pattern, `has` itself where there is none."""
        return re.compile(self.pattern or re.escape(self.has))


@dataclass(frozen=True)
class Step:
    """One thing to look at or to do, with code to copy."""

    text: str
    code: str = ""


@dataclass(frozen=True)
class Way:
    """The way into the product that proves it."""

    command: str
    page: str
    """The address of a page."""


@dataclass(frozen=True)
class Cause:
    """What happened, in the user's own names and numbers, and what to do."""

    sentence: str
    certainty: Certainty = Certainty.LIKELY
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True)
class Read:
    """What was read from a message: texts by name. Without a message every question has an empty answer."""

    values: Mapping[str, str] = field(default_factory=dict)
    text: str = ""
    """All that was pasted, white space as single blanks."""

    def get(self, name: str, otherwise: str = "") -> str:
        """A value as it was written."""
        return self.values.get(name) or otherwise

    def __contains__(self, name: str) -> bool:
        return bool(self.values.get(name))

    def number(self, name: str) -> int | None:
        """A whole number; None where there is none."""
        digits = self.get(name).replace(",", "").replace("_", "")
        return int(digits) if re.fullmatch(r"-?\d{1,18}", digits) else None

    def shape(self, name: str) -> Shape | None:
        """A shape, None for a dimension that is not fixed; None where no shape was read."""
        return shape_of(self.get(name)) if name in self else None

    def says(self, *words: str) -> bool:
        """Whether one of these stands anywhere in what was pasted."""
        return any(word in self.text for word in words)

    def layer(self, otherwise: str = "this layer") -> str:
        """The layer it speaks of, in quotes."""
        return f"“{self.values['layer']}”" if self.get("layer") else otherwise


def shape_of(text: str) -> Shape | None:
    """Reads "[32,10]", "(None, 28)", "(?, 3)", "()"; None for anything else."""
    inner = text.strip().strip("[](){} ").rstrip(",")
    if not inner:
        return () if text.strip() else None
    parts = [part.strip() for part in inner.split(",")]
    if not all(re.fullmatch(r"\d{1,18}|-1|\?|None", part) for part in parts):
        return None
    return tuple(int(part) if part.isdigit() else None for part in parts)


def shown(shape: Shape | None, otherwise: str = "another shape") -> str:
    """A shape as Keras prints it: (None, 28, 28)."""
    if shape is None:
        return otherwise
    return f"({', '.join('None' if size is None else str(size) for size in shape)}{',' if len(shape) == 1 else ''})"


def elements(shape: Shape | None) -> int | None:
    """How many values a shape holds; None where a dimension is open."""
    if shape is None or None in shape:
        return None
    count = 1
    for size in shape:
        count *= size or 0
    return count


@dataclass(frozen=True)
class Message:
    """A kind of error message.

    Attributes:
        id: the name of its file, with dashes.
        title: what is wrong, in a few words.
        wordings: how it is worded, by versions.
        explain: the cause, of what was read; has to answer for an empty `Read`, too.
        ways: into the product, the most telling first.
        sources: addresses of threads and documents where people have met it.
        role: what it is to the program.
        rank: below 0 for what is said only where nothing else is known.
        general: whether any Python program may end with it; then it is not said of what another library raised.
    """

    id: str
    title: str
    wordings: tuple[Wording, ...]
    explain: Callable[[Read], Cause]
    ways: tuple[Way, ...]
    sources: tuple[str, ...]
    role: Role = Role.ERROR
    rank: int = 0
    general: bool = False

    def found_in(
        self, flat: str, known: dict[str, list[int]] | None = None
    ) -> Iterator[tuple[int, Wording, Mapping[str, str]]]:
        """Where it stands in a text whose white space is single blanks: the first place and the last ones of each wording.

        Args:
            flat: the text.
            known: places of plain texts in it that were found already; added to, as kinds share many.
        """
        known = {} if known is None else known
        for wording in self.wordings:
            if wording.line or not (places := _places(flat, wording.has, known)):
                continue
            if wording.beside and not _places(flat, wording.beside, known):
                continue
            if wording.unless and _places(flat, wording.unless, known):
                continue
            pattern = wording.compiled
            for at in places:
                window, offset = flat[max(0, at - BEFORE) : at + AFTER], min(at, BEFORE)
                match = _nearest(pattern, window, offset, offset + len(wording.has)) if wording.pattern else None
                if match is not None:
                    values = {name: text[:MOST_CHARACTERS] for name, text in match.groupdict().items() if text}
                    if wording.only is None or wording.only(values):
                        yield at, wording, values
                elif not wording.pattern:
                    yield at, wording, {}

    def whole_lines(self) -> Mapping[str, Wording]:
        """Wordings that are whole lines."""
        return {wording.has: wording for wording in self.wordings if wording.line}


_MOST_PLACES = 4
_MOST_MATCHES = 8


def _nearest(pattern: re.Pattern[str], window: str, start: int, end: int) -> re.Match[str] | None:
    """The match that reaches over or follows a place, else the last one before it."""
    found, at = None, 0
    for _ in range(_MOST_MATCHES):
        match = pattern.search(window, at)
        if match is None:
            break
        if match.end() >= start:
            return match if match.start() <= end + BEFORE or found is None else found
        found, at = match, max(match.end(), match.start() + 1)
    return found


def _places(flat: str, text: str, known: dict[str, list[int]]) -> list[int]:
    if text not in known:
        first, found = flat.find(text), list[int]()
        at = len(flat)
        while first >= 0 and len(found) < _MOST_PLACES and (at := flat.rfind(text, 0, at + len(text) - 1)) >= 0:
            found.append(at)
        known[text] = found if first in found or first < 0 else [*found, first]
    return known[text]
