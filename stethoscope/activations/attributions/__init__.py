"""Which parts of an input a prediction rests on, by method. A module defines METHOD, or METHODS."""

from __future__ import annotations

import functools
import sys

from stethoscope.activations.attributions.method import Method
from stethoscope.discover import discover


@functools.cache
def all_methods() -> dict[str, Method]:
    """Every method by its id, in the order in which they are offered."""
    found: dict[str, Method] = discover(sys.modules[__name__], "METHOD", "id")
    return dict(sorted(found.items(), key=lambda item: (item[1].place, item[0])))
