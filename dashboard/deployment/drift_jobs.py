"""Comparisons of data: what is submitted for two sides or for a monitor, and which of them is shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dashboard import analysis, panel
from dashboard.deployment.drift_sides import SPLIT, Sides
from dashboard.panel import Panel
from dashboard.session import View
from stethoscope.jobs.protocol import JobState
from stethoscope.jobs.store import Entry
from stethoscope.settings import settings
from stethoscope.studies.monitor import Monitor
from stethoscope.types import Architecture, Budget, Job, ModelFile, WorkerKind

KIND: Final = "drift"
_GONE = "The comparison in this link is not kept any more. Compare again to see the same."


def job(
    view: View, architecture: Architecture | None, sides: Sides, params: Mapping[str, Any], *, with_model: bool
) -> Job:
    """The job that compares two sides.

    Args:
        view: who asks, about which model.
        architecture: of that model; None where it cannot be run.
        sides: what is compared.
        params: as `DriftSettings`.
        with_model: whether also what the model makes of both.
    """
    files = {"reference": sides.reference.file}
    if sides.current is not None:
        files["current"] = sides.current.file
    asked = {
        **params,
        **sides.reference.params(),
        "reference_id": sides.reference_id,
        "current_id": sides.current_id,
        "with_model": with_model,
    }
    worker: WorkerKind = "light"
    if with_model:
        assert view.entry is not None and architecture is not None
        files["model"] = view.entry.file
        asked["trusted"] = view.entry.trusted
        worker = analysis.worker_kind(architecture.format_id)
    return Job(KIND, files, asked, _limits(), worker)


def job_of(
    monitor: Monitor, monitor_id: str, current: Entry, current_id: str, architecture: Architecture | None
) -> Job:
    """The job that runs a monitor on the data of today: the same that the command line submits.

    Args:
        monitor: with its own files.
        monitor_id: by which its runs are known.
        current: the data of today.
        current_id: its id in the address.
        architecture: of the monitor's model; None where it has none.
    """
    files = {"reference": ModelFile.at(monitor.reference), "current": current.file}
    if monitor.model is not None:
        files["model"] = ModelFile.at(monitor.model)
    asked = {
        **monitor.settings.to_json(),
        **monitor.job,
        "monitor_id": monitor_id,
        "current_id": current_id,
        "with_model": monitor.model is not None,
    }
    worker: WorkerKind = "light"
    if monitor.model is not None and architecture is not None:
        worker = analysis.worker_kind(architecture.format_id)
    return Job(KIND, files, asked, _limits(), worker)


def begin(one: Job, view: View) -> str:
    """Submits a job and puts it into the address; returns its id."""
    monitor_id = str(one.params.get("monitor_id") or "")
    data_id = str(one.params.get("reference_id") or one.params.get("current_id"))
    return _panel(monitor_id).begin([one], view, entry_id=data_id if view.entry is None else "")[0]


def shown(view: View, *, of_monitor: str = "") -> JobState | None:
    """The comparison to show: that of the address, else of this tab, else one under way on the model.

    Args:
        view: who looks.
        of_monitor: only a run of this monitor; otherwise only one that is of none.
    """
    return _panel(of_monitor).shown(view).get(panel.ONE)


def split(state: JobState) -> bool:
    """Whether it divided one log by its moments."""
    return state.params.get("current_id") == SPLIT


def _belongs(state: JobState, view: View) -> bool:
    """Whether it is about the model in view, or about data alone."""
    return state.kind == KIND and (
        view.entry is None or state.entry_id == view.entry.id or not state.params.get("with_model")
    )


def _panel(monitor_id: str) -> Panel:
    """The run of one monitor, or the comparison that is of none."""

    def name(state: JobState) -> str:
        return panel.ONE if str(state.params.get("monitor_id") or "") == monitor_id else ""

    return Panel(KIND, _GONE, name, belongs=_belongs, part=monitor_id)


def _limits() -> Budget:
    return Budget(int(settings().job_memory_bytes), settings().job_timeout_s)
