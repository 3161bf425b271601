"""Large JSON read one record after another: what stands before damage is kept, and nothing is held that is not asked for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_SPACE = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True)
class Record:
    """One value: an element of a list, or a value that is no list."""

    key: str
    """The top-level key it stands under; "" where the file itself is a list."""
    start: int
    """Where it begins in the text, so that it can be read again."""
    value: Any


class JsonRecords:
    """The records of a JSON text, in file order."""

    def __init__(self, text: str) -> None:
        self._text, self._after = text, 0
        self.damage = ""
        """After reading: why it ended early, one sentence; "" where it did not."""

    def __iter__(self) -> Iterator[Record]:
        self.damage = ""
        try:
            yield from self._records()
        except (ValueError, IndexError, RecursionError) as error:
            at = getattr(error, "pos", None)
            where = f" at character {at:,}" if isinstance(at, int) else ""
            reason = str(error).split(":")[0][:100] if not isinstance(error, IndexError) else "the text ends"
            self.damage = f"The JSON is damaged{where} ({reason}); what stands before is shown."

    def again(self, start: int) -> Any:
        """The record that begins at `start`; `start` must come from a `Record` of this text."""
        return _DECODER.raw_decode(self._text, start)[0]

    def _records(self) -> Iterator[Record]:
        at = self._skip(0)
        if self._text[at] == "[":
            yield from self._elements("", at)
            return
        if self._text[at] != "{":
            raise ValueError("expected an object or a list")
        at = self._skip(at + 1)
        while self._text[at] != "}":
            key, at = _DECODER.raw_decode(self._text, at)
            at = self._skip(at)
            if self._text[at] != ":":
                raise ValueError(f"no colon after a key, at character {at:,}")
            at = self._skip(at + 1)
            if self._text[at] == "[":
                yield from self._elements(str(key), at)
                at = self._after
            else:
                value, end = _DECODER.raw_decode(self._text, at)
                yield Record(str(key), at, value)
                at = end
            at = self._skip(at)
            if self._text[at] == ",":
                at = self._skip(at + 1)

    def _elements(self, key: str, at: int) -> Iterator[Record]:
        at = self._skip(at + 1)
        while self._text[at] != "]":
            value, end = _DECODER.raw_decode(self._text, at)
            yield Record(key, at, value)
            at = self._skip(end)
            if self._text[at] == ",":
                at = self._skip(at + 1)
            elif self._text[at] != "]":
                raise ValueError(f"no comma after an element, at character {at:,}")
        self._after = at + 1

    def _skip(self, at: int) -> int:
        found = _SPACE.match(self._text, at)
        assert found is not None, "matches anything"
        return found.end()
