"""Logs of trainings, one file per tracker that writes them, each defining TRACKER: from files to curves, within bounds."""

from __future__ import annotations

import functools
import sys

from stethoscope.discover import discover
from stethoscope.logs.series import Tracker

__all__ = ["Tracker", "all_trackers"]


@functools.cache
def all_trackers() -> dict[str, Tracker]:
    """Every tracker by its id."""
    return discover(sys.modules[__name__], "TRACKER", "id")
