"""Marks of one image, gathered until they would take too much: a small file can describe masks without end."""

from __future__ import annotations

from collections.abc import Iterable

from stethoscope.data import bounds
from stethoscope.data.dataset import Mark, Region

_MASK_BYTES = 400_000_000
"""Of all masks of one image together: forty of ten megapixels."""


class MarkList:
    """Keeps marks in order while there is room for them."""

    def __init__(self, budget_bytes: int) -> None:
        self._room = min(_MASK_BYTES, budget_bytes // 4)
        self._marks: list[Mark] = []
        self.problem = ""
        """Why it is full, one sentence; "" while it is not."""

    def extend(self, marks: Iterable[Mark]) -> bool:
        """Takes marks one at a time, as long as there is room.

        Returns:
            Whether there is room for more.
        """
        if self.problem:
            return False
        for mark in marks:
            self._room -= mark.bits.nbytes if isinstance(mark, Region) else 0
            if self._room < 0:
                self.problem = f"Its masks take too much memory; the first {len(self._marks):,} marks are shown."
            elif len(self._marks) >= bounds.MAX_MARKS:
                self.problem = f"Has more than {bounds.MAX_MARKS:,} marks; the first are shown."
            if self.problem:
                return False
            self._marks.append(mark)
        return True

    @property
    def marks(self) -> tuple[Mark, ...]:
        """What was kept."""
        return tuple(self._marks)

    def said(self, problems: Iterable[str]) -> tuple[str, ...]:
        """Problems without repetition, and why the list is full where it is."""
        return tuple(dict.fromkeys([*problems, *([self.problem] if self.problem else [])]))
