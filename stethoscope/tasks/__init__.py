"""Kinds of jobs, one file each: what a contained worker does with a model. Each defines TASK."""

from __future__ import annotations

import functools
import sys
from typing import Any

from stethoscope.discover import discover
from stethoscope.task import Task


@functools.cache
def all_tasks() -> dict[str, Task[Any]]:
    """Every task by its kind."""
    return discover(sys.modules[__name__], "TASK", "kind")
