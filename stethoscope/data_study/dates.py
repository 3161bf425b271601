"""Dates as a whole: from when to when, and how many rows fall into each stretch between."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import numpy as np

from stethoscope.data_study.numbers import NumberStudy

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

    def to_json(self) -> dict[str, Any]:
        """{"count", "missing", "unread", "first", "last", "histogram" over seconds since 1970}; times as ISO 8601, UTC."""
        told = self._seconds.to_json()
        return {
            "count": told["count"],
            "missing": self._missing,
            "unread": self._unread,
            "first": _iso(told["min"]),
            "last": _iso(told["max"]),
            "histogram": told["histogram"],
            "sampled": told.get("sampled", False),
        }


def _iso(seconds: float | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat()
