"""Numbers of runs and tags, which they keep while a log grows: a chart that names one means the same run a minute later."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from stethoscope.logs.runs.facts import RunFacts


class Numbering:
    """Gives numbers in the order met."""

    def __init__(self) -> None:
        self.tags: dict[str, int] = {}
        self._places: dict[tuple[str, str], int] = {}
        self._runs: list[RunFacts] = []

    @property
    def runs(self) -> tuple[RunFacts, ...]:
        """Every run there was, by its number; those that vanished are marked."""
        return tuple(self._runs)

    def take_runs(self, runs: Sequence[RunFacts]) -> list[int]:
        """Takes in the runs there are now; returns their numbers."""
        numbers = []
        for run in runs:
            key = (run.tracker, run.run)
            if key not in self._places:
                self._places[key] = len(self._runs)
                self._runs.append(run)
            self._runs[self._places[key]] = run
            numbers.append(self._places[key])
        present = set(numbers)
        for at, run in enumerate(self._runs):
            if at not in present and not run.gone:
                self._runs[at] = replace(run, gone=True)
        return numbers

    def take_tag(self, tag: str) -> int:
        """The number of a tag."""
        return self.tags.setdefault(tag, len(self.tags))
