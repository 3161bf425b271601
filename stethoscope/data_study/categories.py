"""How often each value of a field occurs, the classes of data among them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

MAX_VALUES = 10_000
SHOWN = 60


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

    def to_json(self) -> dict[str, Any]:
        """{"count", "missing", "distinct", "values": [{"value", "count"}], "others"}: the commonest first."""
        shown = self._counts.most_common(SHOWN)
        return {
            "count": self._rows - self._missing,
            "missing": self._missing,
            "distinct": len(self._counts) if not self._others else None,
            "values": [{"value": text[:200], "count": count} for text, count in shown],
            "others": self._rows - self._missing - sum(count for _, count in shown),
        }
