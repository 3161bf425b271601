"""The parent side of a job: submit, limits, progress, cancel, collect."""

from __future__ import annotations

import atexit
import functools

from stethoscope.jobs.engine import Engine
from stethoscope.jobs.state import JobState

__all__ = ["Engine", "JobState", "engine"]


@functools.cache
def engine() -> Engine:
    """The engine of this process, made from the settings at the first call and stopped when the process ends."""
    # The command line makes engines of its own, and reading settings is a quarter of its start.
    from stethoscope.settings import settings, usable_memory_bytes

    chosen = settings()
    made = Engine(
        chosen.workspace,
        slots={"light": chosen.light_slots, "tensorflow": chosen.job_slots},
        memory_bytes=int(usable_memory_bytes() * 0.9),
        require_containment=chosen.require_containment,
    )
    atexit.register(made.stop)
    return made
