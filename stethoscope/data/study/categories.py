"""How often each value of a field occurs, the classes of data among them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

MAX_VALUES = 10_000
SHOWN = 60


@dataclass(frozen=True)
class Counted:
    """How often a value occurs; hostile text."""

    value: str
    count: int


@dataclass(frozen=True)
class Categories:
    """How often each value of a field occurs."""

    count: int = 0
    """Values that are there,"""
    missing: int = 0
    """and that are not."""
    distinct: int | None = 0
    """None where there are too many to tell."""
    values: tuple[Counted, ...] = ()
    """The `SHOWN` commonest, the commonest first."""
    others: int = 0
    """Rows with none of `values`."""
    study: Literal["category"] = "category"


class CategoryStudy:
    """Counts values by their text; beyond `MAX_VALUES` different ones, new ones are only counted together."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._others = self._missing = self._rows = 0

    def add(self, values: Iterable[Any]) -> None:
        """More values; None, NaN and empty texts are missing."""
        for value, times in Counter(values).items():
            self._rows += times
            if value is None or value == "" or value != value:  # noqa: PLR0124 - NaN is the value that is not itself
                self._missing += times
            elif (text := str(value)) in self._counts or len(self._counts) < MAX_VALUES:
                self._counts[text] += times
            else:
                self._others += times

    @property
    def constant(self) -> bool:
        """Whether every row has the same value."""
        return len(self._counts) == 1 and not self._missing and self._rows > 1

    def count(self, value: str) -> int:
        """Rows with this value."""
        return self._counts[value]

    @property
    def values(self) -> list[str]:
        """Every value that was counted by itself, the commonest first."""
        return [text for text, _ in self._counts.most_common()]

    def result(self) -> Categories:
        """What was counted."""
        shown = self._counts.most_common(SHOWN)
        return Categories(
            count=self._rows - self._missing,
            missing=self._missing,
            distinct=len(self._counts) if not self._others else None,
            values=tuple(Counted(text[:200], count) for text, count in shown),
            others=self._rows - self._missing - sum(count for _, count in shown),
        )
