"""The conversions of the model in view: one for each target, all of them in the address."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from dashboard import analysis, panel, rerun
from dashboard.data.data_use import DataUse
from dashboard.deployment import convert_targets
from dashboard.panel import Panel
from dashboard.session import View
from stethoscope.compare.convert import all_converters
from stethoscope.jobs.protocol import JobState
from stethoscope.types import Architecture, Job, Status

KIND: Final = "convert"
_MOST_LINES = 3
"""Progress lines at once; of more conversions, only those that run have one."""


def job(
    view: View,
    architecture: Architecture,
    target: str,
    params: Mapping[str, Any],
    memory_bytes: int,
    time_s: float,
    data: DataUse | None,
) -> Job:
    """The job that converts the model in view to one target.

    Args:
        view: with a model.
        architecture: of that model.
        target: the id of the target.
        params: "options", "rows", "seed"; options that do not count for the target are left out.
        memory_bytes: what it may add to its process.
        time_s: when it is stopped.
        data: rows for ranges and comparing, None for random ones.
    """
    assert view.entry is not None
    counts = convert_targets.options_of(target, architecture)
    options = {name: value for name, value in params["options"].items() if name in counts}
    made = analysis.model_job(
        KIND,
        view.entry,
        architecture.format_id,
        {**params, "target": target, "options": options},
        memory_bytes=memory_bytes,
        data=data,
    )
    return replace(made, budget=replace(made.budget, timeout_s=time_s))


def begin(jobs: Iterable[Job], view: View) -> None:
    """Submits jobs, puts them into the address in place of earlier ones to the same targets, and draws the page anew."""
    _panel().begin(list(jobs), view)
    rerun.whole_page()


def shown(view: View, *, quiet: bool = False) -> dict[str, JobState]:
    """The conversions to show by target: those of the address, else of this tab, else those under way, whoever began them.

    Args:
        view: with a model.
        quiet: whether to say nothing of conversions that are gone.
    """
    known = all_converters()
    found = _panel().shown(view, quiet=quiet)
    return {key: found[key] for key in known if key in found}


def watch(states: Mapping[str, JobState], view: View) -> None:
    """Moving lines for the conversions that are not done; when one ends, the whole page runs once more."""
    titles = {key: convert_targets.title(key) for key in states}
    panel.watch(states, titles, view, _MOST_LINES)


def converted(states: Mapping[str, JobState]) -> list[str]:
    """The targets that the model was converted to."""
    return [key for key, state in states.items() if state.result is not None and state.result.status is Status.OK]


def _panel() -> Panel:
    return Panel(
        KIND,
        "The conversion in this link is not kept any more. Convert it again to see the same.",
        lambda state: str(state.params.get("target") or ""),
        len(all_converters()),
        cancels=True,
    )
