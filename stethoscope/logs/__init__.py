"""Logs of trainings, by the tracker that writes them: from files to curves, within bounds."""

from __future__ import annotations

import functools
import sys

from stethoscope.discover import discover
from stethoscope.errors import UnreadableFile
from stethoscope.logs.series import Tracker

__all__ = ["Tracker", "all_trackers", "no_logs"]


@functools.cache
def all_trackers() -> dict[str, Tracker]:
    """Every tracker by its id."""
    return discover(sys.modules[__name__], "TRACKER", "id")


def no_logs(name: str) -> UnreadableFile:
    """What to say of a place of this name in which no tracker found a run."""
    kinds = ", ".join(tracker.title for tracker in all_trackers().values())
    return UnreadableFile(f"{name}: expected training logs ({kinds}), got none. Send the folder the training wrote to.")
