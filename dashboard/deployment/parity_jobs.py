"""The comparisons of the model in view: one for each other model, all of them in the address."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from dashboard import analysis, rerun
from dashboard.data.data_use import DataUse
from dashboard.panel import Panel
from dashboard.session import View
from stethoscope.jobs.protocol import JobState
from stethoscope.jobs.store import Entry
from stethoscope.memory.run_settings import RunSettings
from stethoscope.settings import settings
from stethoscope.tasks.record import Compared, comparison_job
from stethoscope.types import Architecture, Budget, Job

KIND: Final = "compare"
MOST: Final = 6
"""Comparisons at once."""


@dataclass(frozen=True)
class Other:
    """What the model in view is compared with: another model, or itself run in another way."""

    key: str
    """The other model's id, or the name of the way."""
    entry: Entry
    settings: RunSettings | None = None


def jobs(
    view: View,
    architecture: Architecture,
    others: Sequence[tuple[Other, Architecture]],
    params: Mapping[str, Any],
    data: DataUse | None,
) -> list[Job]:
    """The jobs that compare the model in view, which is the one that is right, with others.

    Args:
        view: with a model.
        architecture: of that model.
        others: what should answer the same, and the architecture of its model.
        params: "rows", "layers", "edges", "batch_size", "seed".
        data: rows to compare on, None for random ones.
    """
    assert view.entry is not None
    first = Compared({"model": view.entry.file}, analysis.worker_kind(architecture.format_id))
    right = [
        Compared({"model": other.entry.file}, analysis.worker_kind(there.format_id), other.settings, there.format_id)
        for other, there in others
    ]
    prepared: dict[str, Any] = {} if data is None else {**data.params(), "data_id": data.entry.id}
    limits = Budget(int(settings().job_memory_bytes), settings().job_timeout_s)
    rows = None if data is None else data.file
    found = []
    for (other, _), one in zip(others, right, strict=True):
        asked = {
            **params,
            **prepared,
            "other_id": other.key,
            "trusted": view.entry.trusted,
            "trusted_other": other.entry.trusted,
        }
        found.append(comparison_job(first, one, rows, asked, limits, right))
    return found


def begin(asked: Iterable[Job], view: View) -> None:
    """Submits jobs, puts them into the address in place of earlier ones with the same others, and draws the page anew."""
    _PANEL.begin(list(asked), view)
    rerun.whole_page()


def shown(view: View, *, quiet: bool = False) -> dict[str, JobState]:
    """The comparisons to show by the other's key: those of the address, else of this tab, else one under way.

    Args:
        view: with a model.
        quiet: whether to say nothing of comparisons that are gone.
    """
    return _PANEL.shown(view, quiet=quiet)


_PANEL = Panel(
    KIND,
    "The comparison in this link is not kept any more. Compare again to see the same.",
    lambda state: str(state.params.get("other_id") or ""),
    MOST,
)
