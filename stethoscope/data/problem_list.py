"""Problems found while data is read: counted all, kept few, the first of each kind."""

from __future__ import annotations

from stethoscope.data.dataset import MAX_PROBLEMS, Problem

_OF_ONE_KIND = 8


class ProblemList:
    """Collects problems. Of each kind the first few are kept, so that one frequent kind does not hide the others."""

    def __init__(self) -> None:
        self._kept: list[Problem] = []
        self._seen: dict[str, int] = {}
        self.count = 0

    def add(self, kind: str, where: str, sentence: str) -> None:
        """Counts one; keeps it while there is room.

        Args:
            kind: what kinds are told apart by; never shown.
            where: the member, line or row.
            sentence: for people.
        """
        self.count += 1
        self._seen[kind] = self._seen.get(kind, 0) + 1
        if self._seen[kind] <= _OF_ONE_KIND and len(self._kept) < MAX_PROBLEMS:
            self._kept.append(Problem(where, sentence))

    @property
    def kept(self) -> tuple[Problem, ...]:
        """At most `MAX_PROBLEMS`."""
        return tuple(self._kept)
