"""Rules about training scripts, one file each: RULE."""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING

from stethoscope.discover import discover

if TYPE_CHECKING:
    from stethoscope.pasted.scripts.rule import Rule


@functools.cache
def all_rules() -> dict[str, Rule]:
    """Every rule by its id."""
    return discover(sys.modules[__name__], "RULE", "id")
