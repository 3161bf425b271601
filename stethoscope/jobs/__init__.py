"""The parent side of a job: submit, limits, progress, cancel, collect."""

from __future__ import annotations

import atexit
import functools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stethoscope.jobs.job_engine import Engine

__all__ = ["engine"]


@functools.cache
def engine() -> Engine:
    """The engine of this process, made from the settings at the first call and stopped when the process ends."""
    # Imported here because commands start their first worker before they import an engine. The module is not called
    # `engine`: importing a submodule of that name would replace this function in the package.
    from stethoscope.jobs.host_memory import HostMemory
    from stethoscope.jobs.job_engine import Engine
    from stethoscope.settings import settings, usable_memory_bytes

    chosen = settings()
    made = Engine(
        chosen.workspace,
        slots={"light": chosen.light_slots, "tensorflow": chosen.job_slots},
        memory_bytes=int(usable_memory_bytes() * 0.9),
        host=HostMemory(int(chosen.min_free_memory_bytes)),
        require_containment=chosen.require_containment,
    )
    atexit.register(made.stop)
    return made
