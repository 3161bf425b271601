"""Dates as a whole: from when to when, and how many rows fall into each stretch between."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal

import numpy as np

from stethoscope.data.study.numbers import Numbers, NumberStudy

_FORMS = ("%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%d.%m.%y")


class DateReader:
    """Reads dates and times in words; the form that has served before is tried first, so that 3/4 is read alike in every row."""

    def __init__(self) -> None:
        self._form = ""

    def read(self, text: str) -> datetime | None:
        """The moment, UTC where the text names no zone; None where it cannot be read."""
        try:
            found = datetime.fromisoformat(text)
        except ValueError:
            return self._otherwise(text.split("T", maxsplit=1)[0].split(" ", maxsplit=1)[0])
        return found if found.tzinfo else found.replace(tzinfo=UTC)

    def _otherwise(self, day: str) -> datetime | None:
        for form in (self._form, *_FORMS) if self._form else _FORMS:
            try:
                found = datetime.strptime(day, form).replace(tzinfo=UTC)
            except ValueError:
                continue
            self._form = form
            return found
        return None


@dataclass(frozen=True)
class Dates:
    """From when to when; times as ISO 8601, UTC."""

    missing: int
    unread: int
    """Texts that are no dates."""
    first: str | None
    last: str | None
    seconds: Numbers
    """Since 1970."""
    study: Literal["date"] = "date"


class DateStudy:
    """A field of dates written as text."""

    def __init__(self) -> None:
        self._seconds = NumberStudy()
        self._missing = self._unread = 0
        self._reader = DateReader()

    def add(self, texts: Iterable[str]) -> None:
        """More values; empty ones are missing."""
        found = []
        for text in texts:
            plain = text.strip()
            if not plain or plain.lower() in ("nan", "nat", "none"):
                self._missing += 1
            elif (moment := self._reader.read(plain)) is None:
                self._unread += 1
            else:
                found.append(moment.timestamp())
        if found:
            self._seconds.add(np.array(found, np.float64))

    def result(self) -> Dates:
        """What was found."""
        seconds = replace(self._seconds.result(), whole=False)
        return Dates(self._missing, self._unread, _iso(seconds.min), _iso(seconds.max), seconds)


def _iso(seconds: float | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat()
