"""Which data the runs used, what they reached with each version of it, and what changed between two versions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from dashboard import escape, kept_upload, progress, render, words
from dashboard.training import tracker_parts
from dashboard.training.compare_inputs import Log, id_of, offered, one_of
from stethoscope.codec import partial_of
from stethoscope.jobs.protocol import JobState
from stethoscope.jobs.store import Entry
from stethoscope.logs.better import best_is_low
from stethoscope.logs.dvc_runs import ChangeKind
from stethoscope.tasks.read_versions import DataVersions, NamedFingerprint, RepositoryState, StageState
from stethoscope.types import Budget, Job, ModelFile, Status

if TYPE_CHECKING:
    from dashboard.training.log_choice import LogView

_MEMORY_BYTES, _TIME_S = 2 << 30, 300.0
_KINDS: Mapping[ChangeKind, str] = {
    "data": "Data",
    "code": "Code",
    "output": "Outputs",
    "stage": "Stages",
    "parameter": "Parameters",
    "metric": "Metrics",
}
_MOST_SHOWN = 300


def show(log: LogView, compared: Log) -> None:
    """The view of versions: by run, of the repository, and of plain files."""
    _of_runs(compared)
    if "dvc" in compared.trackers:
        _of_repository(log)
    st.divider()
    _of_files(log)


def _of_runs(log: Log) -> None:
    """What runs reached with each version."""
    if not any(tracker_parts.versions_of(log.runs)) or not log.tags:
        st.markdown("**No run says which data it used.**")
        st.caption(
            "MLflow does with `mlflow.log_input`, DVC with its lock file beside the metrics. For all others, fingerprint the "
            "data file below: the same characters mean the same data."
        )
        return
    tags = {id_of(tag): tag for tag in offered(log.tags)}
    st.markdown("**Results by version of the data**")
    with st.grid(3, min_column_width=200).cell():
        chosen = one_of("Metric", list(tags), lambda one: escape.clip(tags[one], 60), "by")
    by = log.metric(tags[chosen], not best_is_low(tags[chosen]))
    st.dataframe(tracker_parts.by_version(log.runs, by), hide_index=True, key="versions-runs")
    if "outdated" in log.runs.notes:
        for run, text in zip(log.runs.runs, log.runs.notes["outdated"], strict=True):
            if text:
                st.warning(f"{escape.code(run)} is out of date: {escape.sentences(text)}")


def _of_repository(log: LogView) -> None:
    """The pipeline as it last ran, and what changed since another state of it."""
    st.markdown("**The repository**")
    pipeline = st.container()
    st.caption("To see what changed, add another state of it: its folder or archive, or only its `dvc.lock`.")
    other = _uploaded(log.owner, "before", "Drop an older state here", ".lock, .yaml, .dvc, or the whole repository.")
    with pipeline:
        found = _answer(_versions(log, other), log.title)
    if found is None:
        return
    with pipeline:
        for state in found.states[-1:]:
            stages(state)
    if len(found.states) > 1:
        st.dataframe(state_table(found.states), hide_index=True, key="versions-states")
        changes(found)


def _versions(log: LogView, other: Entry | None) -> JobState:
    """The job that reads the repository. A folder may change, so that its job is found by its id, not by its content."""
    key = (log.job_id, other.id if other else "")
    known = st.session_state.get("_versions-job", (None, ""))
    if log.file is None and known[0] == key:
        state = progress.find(known[1])
        if state is not None and not st.button("Read it again", key="versions-again"):
            return state
    after = log.file or ModelFile(log.folder or Path(), log.title)
    state = _job({"after": after} | ({"before": other.file} if other else {}), log.owner, log.entry_id)
    st.session_state["_versions-job"] = (key, state.id)
    return state


def stages(state: RepositoryState) -> None:
    """One state of a repository: its data, and which stage rests on which of it."""
    if state.stages:
        st.dataframe(
            {
                "Stage": [escape.clip(stage.name, 80) for stage in state.stages],
                "Rests on": [escape.clip(", ".join(stage.sources) or "no data", 300) for stage in state.stages],
                "Makes": [escape.clip(", ".join(stage.outputs), 200) for stage in state.stages],
                "State": [_stage(stage) for stage in state.stages],
            },
            hide_index=True,
            key=f"stages-{state.name}",
            column_config={"State": st.column_config.TextColumn(width="large")},
        )
    for text in state.problems[:5]:
        st.caption(escape.sentences(text))


def _stage(stage: StageState) -> str:
    if stage.outdated:
        return escape.clip(f"out of date: {stage.outdated}", 300)
    return "up to date" if stage.ran else "never ran"


def state_table(states: Sequence[RepositoryState]) -> dict[str, list[Any]]:
    """Metrics by version of the data: one row per state, one column per metric."""
    names = list(dict.fromkeys(name for state in states for name in state.metrics))[:12]
    columns: dict[str, list[Any]] = {
        "State": [escape.clip(state.name) for state in states],
        "Data version": [state.version or "no data" for state in states],
    }
    for name in names:
        heading = escape.clip(name, 60)
        columns[heading if heading not in columns else f"{heading} (2)"] = [state.metrics.get(name) for state in states]
    return columns


def changes(found: DataVersions) -> None:
    """What changed from each state to the next, by kind."""
    for to in range(1, len(found.states)):
        names = f"{escape.code(found.states[to - 1].name, 60)} → {escape.code(found.states[to].name, 60)}"
        mine = [change for change in found.changes if not isinstance(change, str) and change.to == to]
        if not mine:
            st.markdown(f"**From** {names}: nothing changed.")
            continue
        st.markdown(f"**From** {names}")
        for kind, title in _KINDS.items():
            texts = [change.text for change in mine if change.kind == kind]
            if texts:
                more = f"\n- and {len(texts) - _MOST_SHOWN:,} more" if len(texts) > _MOST_SHOWN else ""
                lines = "\n".join(f"- {escape.markdown(text, 300)}" for text in texts[:_MOST_SHOWN])
                st.markdown(f"{title}\n{lines}{more}")


def _of_files(log: LogView) -> None:
    """Fingerprints of data files."""
    st.markdown("**Fingerprint of a data file**")
    st.caption(
        "The same characters mean the same values, whether they are kept as .npy, .npz or .csv. With two files it also says "
        "what changed: rows added, another order, other values."
    )
    halves = st.grid(2, min_column_width=300)
    with halves.cell():
        after = _uploaded(log.owner, "data", "Drop the data here", ".npy, .npz, .csv, .tsv, or any other file.")
    with halves.cell():
        before = _uploaded(log.owner, "older", "Drop an older version here", "To see what changed.") if after else None
    if after is None:
        return
    files = {"after": after.file} | ({"before": before.file} if before else {})
    found = _answer(_job(files, log.owner, after.id), after.name)
    if found is None:
        return
    for state in found.states:
        stages(state)
    if found.states:
        changes(found)
    fingerprints(found.fingerprints, [change for change in found.changes if isinstance(change, str)])


def fingerprints(found: Sequence[NamedFingerprint], changed: Sequence[str]) -> None:
    """Fingerprints of one or two files, oldest first, and what differs."""
    if len(found) == 2:
        if found[0].sha256 == found[1].sha256:
            render.verdict("good", "The same", "Both hold the same values.")
        else:
            render.verdict("careful", "Different", "The data changed.")
            st.markdown("\n".join(f"- {escape.markdown(text, 300)}" for text in changed[:_MOST_SHOWN]))
    for data in found:
        st.markdown(f"{escape.code(data.name)} · {words.plural(len(data.parts), 'part')}")
        st.code(data.sha256, language=None)
        if len(data.parts) > 1:
            parts = data.parts[:_MOST_SHOWN]
            st.dataframe(
                {
                    "Part": [escape.clip(part.name) for part in parts],
                    "Shape": [" × ".join(f"{size:,}" for size in part.shape) or "scalar" for part in parts],
                    "Type": [escape.clip(part.dtype, 40) for part in parts],
                    "Fingerprint": [part.sha256[:16] for part in parts],
                },
                hide_index=True,
                key=f"parts-{data.sha256}",
            )


def _uploaded(owner: str, role: str, title: str, hint: str) -> Entry | None:
    return kept_upload.chosen(role, owner, key=f"versions-{role}", title=title, hint=hint, other="Other")


def _job(files: Mapping[str, ModelFile], owner: str, entry_id: str) -> JobState:
    job = Job("read_versions", dict(files), {}, Budget(_MEMORY_BYTES, _TIME_S))
    found = progress.find(progress.start(job, owner=owner, entry_id=entry_id))
    assert found is not None, "a job just submitted is known"
    return found


def _answer(state: JobState, subject: str) -> DataVersions | None:
    if not state.done:
        progress.watch(state, subject=subject, may_cancel=True)
        return None
    assert state.result is not None
    if state.result.status is not Status.OK:
        render.ending(state)
        return None
    return partial_of(state.result, DataVersions)
