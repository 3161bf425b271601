"""Checks, one file each, each defining CHECK: pure functions of evidence that yield findings."""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING

from stethoscope.discover import discover

if TYPE_CHECKING:
    from stethoscope.checks.check import Check


@functools.cache
def all_checks() -> dict[str, Check]:
    """Every check by its id."""
    return discover(sys.modules[__name__], "CHECK", "id")
