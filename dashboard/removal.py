"""What goes with a model: when its owner removes it, and when nobody has used it for long."""

from __future__ import annotations

import time

from dashboard.deployment import drift_kept
from stethoscope.jobs.store import Entry, store
from stethoscope.settings import settings
from stethoscope.studies.study import studies

_DAY_S = 24 * 3_600.0


def remove(entry: Entry, owner: str) -> None:
    """Removes the owner's model, and all that is kept about it.

    Raises:
        NotFound: no such model, or it belongs to somebody else.
    """
    store().remove(entry.id, owner)
    studies().forget(entry.id)
    drift_kept.shelf().leave(entry)


def clean() -> None:
    """Removes what expired, and what was kept about it. A monitor that is run or looked at keeps its model."""
    expire_s = settings().expire_days * _DAY_S
    monitors = drift_kept.shelf()
    for gone in store().clean(but=monitors.used_since(time.time() - expire_s)):
        studies().forget(gone)
    monitors.clean(expire_s)
