"""Between pages and the engine: which job answers a question about a model, and where its files are."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dashboard import progress
from dashboard.data.data_use import DataUse
from dashboard.kept_answers import kept
from stethoscope.codec import fitting, partial_of
from stethoscope.jobs import engine
from stethoscope.jobs.protocol import JobState
from stethoscope.jobs.store import Entry
from stethoscope.models.formats import all_formats
from stethoscope.settings import settings
from stethoscope.tasks.describe import Description, FormatNamed, with_skeleton
from stethoscope.types import Architecture, Budget, Job, JobResult, ModelFile, Status, WorkerKind

_DESCRIBE_MEMORY_BYTES = 4 << 30
_DESCRIBE_S = 120.0


def describe(entry: Entry, *, again: bool = False) -> JobState:
    """The job that reads a model's architecture and its graph without weights: the last good one, the last one, or a new one.

    One that was cancelled or crashed is not started over on every look; `again` does that.
    """
    if not again:
        asked = with_skeleton(entry.file)
        states = [
            state
            for state in engine().jobs(entry_id=entry.id)
            if state.kind == "describe" and state.params == asked and _fits(state)
        ]
        good = (state for state in states if state.result is not None and state.result.status is Status.OK)
        found = next(good, states[0] if states else None)
        if found is not None:
            return found
    return engine().state(engine().submit(_describe_job(entry), owner=entry.owner, entry_id=entry.id, fresh=again))


def architecture_in(result: JobResult) -> Architecture | None:
    """The model that a job described, also where it ended early; None where it did not come to that. The same for one answer."""
    return _architecture(result.value)


def _fits(state: JobState) -> bool:
    """Whether a description is of the type of now; one of another version is as good as none."""
    result = state.result
    return result is None or result.status is not Status.OK or architecture_in(result) is not None


@kept
def _architecture(value: Mapping[str, Any]) -> Architecture | None:
    description = _description(value)
    return None if description is None else description.architecture


def description_in(result: JobResult) -> Description | None:
    """What a job that describes answered, also where it ended early. The same for one answer."""
    return _description(result.value)


@kept
def _description(value: Mapping[str, Any]) -> Description | None:
    return fitting(Description, value)


def reading(entry: Entry) -> bool:
    """Whether the model is still being read."""
    return any(state.kind == "describe" for state in engine().jobs(entry_id=entry.id, active=True))


def skeleton_path(entry: Entry) -> tuple[str, Path] | None:
    """The graph without weights as (file name for the viewer, path); None until the description is done, or without one."""
    state = describe(entry)
    if state.result is None or state.result.status is not Status.OK:
        return None
    for name, path in state.result.files.items():
        if name.startswith("skeleton-") and path.exists():
            return name.removeprefix("skeleton-"), path
    return None


def model_job(
    kind: str,
    entry: Entry,
    format_id: str,
    params: Mapping[str, Any],
    *,
    memory_bytes: int | None = None,
    data: DataUse | ModelFile | None = None,
) -> Job:
    """A job that loads the model, in the kind of worker its format needs, with the owner's consent if it was given.

    With data, the steps that prepare it go into the parameters.
    """
    file, prepared = (data.file, data.params()) if isinstance(data, DataUse) else (data, {})
    files = {"model": entry.file} | ({} if file is None else {"data": file})
    return Job(
        kind,
        files,
        {**params, **prepared, "trusted": entry.trusted},
        Budget(memory_bytes or int(settings().job_memory_bytes), settings().job_timeout_s),
        worker_kind(format_id),
    )


def worker_kind(format_id: str) -> WorkerKind:
    """Which kind of worker opens files of this format."""
    return all_formats()[format_id].worker


def _describe_job(entry: Entry) -> Job:
    return Job(
        "describe", {"model": entry.file}, with_skeleton(entry.file), Budget(_DESCRIBE_MEMORY_BYTES, _DESCRIBE_S)
    )


def last(entry: Entry, kind: str, *, saying: str = "") -> JobState | None:
    """The newest finished job of this kind on this model that was not cancelled, and whose answer has `saying`, if given."""
    for state in engine().jobs(entry_id=entry.id):
        if (
            state.kind != kind
            or state.result is None
            or state.result.status is Status.CANCELLED
            or not progress.is_readable(state)
        ):
            continue
        if not saying or state.result.value.get(saying):
            return state
    return None


def known_format(entry: Entry) -> str:
    """What to call the format of a model that has been described; "" before that. Starts nothing."""
    for state in engine().jobs(entry_id=entry.id):
        if state.kind == "describe" and state.result is not None:
            named = partial_of(state.result, FormatNamed)
            return "" if named is None else named.format
    return ""
