"""Changes to data on its way into a model, by what they change. A module defines STEP, or STEPS."""

from __future__ import annotations

import functools
import sys

from stethoscope.data.preprocessing.parameter import StepKind
from stethoscope.discover import discover


@functools.cache
def all_steps() -> dict[str, StepKind]:
    """Every kind of step by its id, in the order of their titles."""
    found: dict[str, StepKind] = discover(sys.modules[__name__], "STEP", "id")
    return dict(sorted(found.items(), key=lambda item: item[1].title))
