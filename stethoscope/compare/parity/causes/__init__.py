"""Why two layers part, one file per cause, each defining CAUSE: pure functions of what both layers took and answered."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator

from stethoscope.compare.parity.causes.case import Case, Cause, Guess
from stethoscope.discover import discover


@functools.cache
def all_causes() -> dict[str, Cause]:
    """Every cause by its id."""
    return discover(sys.modules[__name__], "CAUSE", "id")


def guesses(case: Case) -> list[Guess]:
    """What may have parted the two, the likeliest first."""
    found: list[Guess] = []
    for cause in all_causes().values():
        found.extend(_weighed(cause, case))
    return sorted(found, key=lambda one: -one.confidence)


def _weighed(cause: Cause, case: Case) -> Iterator[Guess]:
    guess = cause.weigh(case)
    if guess is not None and guess.confidence > 0:
        yield guess
