"""The timing of the model in view beside others: one job, in the address."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from dashboard import analysis, panel, rerun
from dashboard.data.data_use import DataUse
from dashboard.panel import Panel
from dashboard.session import View
from stethoscope.jobs.protocol import JobState
from stethoscope.jobs.store import Entry
from stethoscope.settings import settings
from stethoscope.types import Architecture, Budget, Job

KIND: Final = "latency"


def job(
    view: View,
    architecture: Architecture,
    others: Sequence[Entry],
    read: Mapping[str, Architecture],
    params: Mapping[str, Any],
    data: DataUse | None,
) -> Job:
    """The job that times the model in view beside others.

    Args:
        view: with a model.
        architecture: of that model.
        others: timed beside it; may be none.
        read: their architectures, by id.
        params: "batch_sizes", "threads", "calls", "seconds", "seed", "device".
        data: rows to time on, None for random ones.
    """
    assert view.entry is not None
    files = {"model": view.entry.file} | {f"other-{place}": one.file for place, one in enumerate(others, 1)}
    workers = {analysis.worker_kind(one.format_id) for one in (architecture, *read.values())}
    asked: dict[str, Any] = {
        **params,
        "other_ids": [one.id for one in others],
        "trusted": view.entry.trusted,
        **{f"trusted_other-{place}": one.trusted for place, one in enumerate(others, 1)},
    }
    if data is not None:
        files["data"] = data.file
        asked |= {**data.params(), "data_id": data.entry.id}
    limits = Budget(int(settings().job_memory_bytes), settings().job_timeout_s)
    return Job(KIND, files, asked, limits, "tensorflow" if "tensorflow" in workers else "light")


def begin(asked: Job, view: View) -> None:
    """Submits the job, puts it into the address, and draws the page anew.

    What is in view already with these settings is timed again: times are never twice the same.
    """
    assert view.entry is not None
    before = shown(view, quiet=True)
    params = dict(asked.params)
    if before is not None and before.done and {**before.params, "again": 0} == {**params, "again": 0}:
        params["again"] = int(before.params.get("again") or 0) + 1
    _PANEL.begin([replace(asked, params=params)], view)
    rerun.whole_page()


def shown(view: View, *, quiet: bool = False) -> JobState | None:
    """The job to show: that of the address, else of this tab, else one under way.

    Args:
        view: with a model.
        quiet: whether to say nothing of one that is gone.
    """
    return _PANEL.shown(view, quiet=quiet).get(panel.ONE)


def other_ids(state: JobState | None) -> list[str]:
    """The models that a job times beside the one in view, in the order of their roles."""
    return [] if state is None else [str(one) for one in state.params.get("other_ids") or ()]


_PANEL = Panel(KIND, "The times in this link are not kept any more. Take them again to see the like.")
