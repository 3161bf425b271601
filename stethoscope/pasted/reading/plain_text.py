"""A pasted text as plain lines: colours, prompts, prefixes of loggers and of quoting taken away, within bounds.

A paste may be anything; what is kept is at most a mebibyte, its beginning and its end.
"""

from __future__ import annotations

import bisect
import re
from dataclasses import dataclass
from functools import cached_property

MOST_CHARACTERS = 1 << 20
_HEAD = MOST_CHARACTERS // 4
_LONGEST_LINE = 16_000
_MOST_LINES = 40_000

_ESCAPES = re.compile(r"(?:\x1b|\\x1b|\\u001b|\\033)\[[0-9;?]{0,16}[A-Za-z]|\x1b\][^\x07\x1b]{0,256}\x07|\x1b.")
_LOST_ESCAPES = re.compile(r"\[(?:\d{1,3};){0,4}\d{1,3}m")
_INVISIBLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff]")
_PREFIX = re.compile(
    r"(?:> {0,2}){1,3}(?=\S)|E {2,7}(?=\S)|\(?(?:pid|ip)=[^)]{1,60}\) ?|\[rank\d{1,4}\]: ?|\[\d{1,4}(?:,\d{1,4})?\]<std(?:err|out)>: ?|"
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.\d]{0,12}Z? (?:stdout|stderr) [FP] "
)
_ENTITIES = {"&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'", "&#x27;": "'", "&nbsp;": " ", "&amp;": "&"}


@dataclass(frozen=True)
class PlainText:
    """Lines, and all of them as one text whose white space is single blanks."""

    lines: tuple[str, ...]
    shortened: bool
    """Whether the middle was left out."""

    @cached_property
    def _flattened(self) -> tuple[str, list[int]]:
        parts, starts, at = list[str](), list[int](), 0
        for line in self.lines:
            starts.append(at)
            if words := " ".join(line.split()):
                parts.append(words)
                at += len(words) + 1
        return " ".join(parts), starts

    @property
    def flat(self) -> str:
        """Everything, white space as single blanks."""
        return self._flattened[0]

    def line_at(self, place: int) -> int:
        """The number of the line in which a place of `flat` is."""
        starts = self._flattened[1]
        return max(0, bisect.bisect_right(starts, place) - 1)

    def start_of(self, line: int) -> int:
        """Where a line begins in `flat`."""
        starts = self._flattened[1]
        return starts[line] if line < len(starts) else len(self.flat)


def plain_text(pasted: str) -> PlainText:
    """Reads what was pasted."""
    shortened = len(pasted) > MOST_CHARACTERS
    if shortened:
        pasted = f"{pasted[:_HEAD]}\n{pasted[_HEAD - MOST_CHARACTERS :]}"
    text = _ESCAPES.sub("", pasted.replace("\r\n", "\n").replace("\r", "\n"))
    text = _INVISIBLE.sub("", text.replace("\xa0", " "))
    if "\n" not in text and "\\n" in text:
        text = text.replace("\\r\\n", "\n").replace("\\n", "\n").replace('\\"', '"')
    if "m" in text and "[" in text:
        text = _LOST_ESCAPES.sub("", text)
    if "&" in text:
        for entity, meant in _ENTITIES.items():
            text = text.replace(entity, meant)
    lines = text.split("\n")
    if len(lines) > _MOST_LINES:
        lines, shortened = [*lines[: _MOST_LINES // 4], *lines[-3 * _MOST_LINES // 4 :]], True
    return PlainText(tuple(_line(line) for line in lines), shortened)


def _line(line: str) -> str:
    if len(line) > _LONGEST_LINE:
        line = f"{line[: _LONGEST_LINE // 2]} … {line[-_LONGEST_LINE // 2 :]}"
    prefix = _PREFIX.match(line)
    return line[prefix.end() :].rstrip() if prefix and not line.startswith(">>>") else line.rstrip()
