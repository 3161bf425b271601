"""Which data the runs used, what they reached with each version of it, and what changed between two versions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from dashboard import escape, kept_upload, progress, render, words
from dashboard.training import tracker_parts
from dashboard.training.compare_inputs import Log, id_of, offered, one_of
from stethoscope.jobs.state import JobState
from stethoscope.logs.better import best_is_low
from stethoscope.store import Entry
from stethoscope.types import Budget, Job, ModelFile, Status

if TYPE_CHECKING:
    from dashboard.training.log_choice import LogView

_MEMORY_BYTES, _TIME_S = 2 << 30, 300.0
_KINDS = {
    "data": "Data", "code": "Code", "output": "Outputs", "stage": "Stages", "parameter": "Parameters",
    "metric": "Metrics",
}  # fmt: skip
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
        value = _answer(_versions(log, other), log.title)
    if value is None:
        return
    states: Sequence[Mapping[str, Any]] = value.get("states") or ()
    with pipeline:
        for one in states[-1:]:
            stages(one)
    if len(states) > 1:
        st.dataframe(state_table(states), hide_index=True, key="versions-states")
        changes(states, value.get("changes") or ())


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


def stages(state: Mapping[str, Any]) -> None:
    """One state of a repository: its data, and which stage rests on which of it."""
    rows: Sequence[Mapping[str, Any]] = state.get("stages") or ()
    if rows:
        st.dataframe(
            {
                "Stage": [escape.clip(row["name"], 80) for row in rows],
                "Rests on": [escape.clip(", ".join(map(str, row["sources"])) or "no data", 300) for row in rows],
                "Makes": [escape.clip(", ".join(map(str, row["outputs"])), 200) for row in rows],
                "State": [_stage(row) for row in rows],
            },
            hide_index=True,
            key=f"stages-{state['name']}",
            column_config={"State": st.column_config.TextColumn(width="large")},
        )
    for text in list(state.get("problems") or ())[:5]:
        st.caption(escape.sentences(text))


def _stage(row: Mapping[str, Any]) -> str:
    if row.get("outdated"):
        return escape.clip(f"out of date: {row['outdated']}", 300)
    return "up to date" if row.get("ran") else "never ran"


def state_table(states: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Metrics by version of the data: one row per state, one column per metric."""
    names = list(dict.fromkeys(name for state in states for name in state.get("metrics") or {}))[:12]
    columns: dict[str, list[Any]] = {
        "State": [escape.clip(state["name"]) for state in states],
        "Data version": [str(state["version"]) or "no data" for state in states],
    }
    for name in names:
        heading = escape.clip(name, 60)
        columns[heading if heading not in columns else f"{heading} (2)"] = [
            _number((state.get("metrics") or {}).get(name)) for state in states
        ]
    return columns


def _number(value: Any) -> float | None:
    """Workers send NaN and infinities by name."""
    try:
        return None if value is None else float(value)
    except (TypeError, ValueError):
        return None


def changes(states: Sequence[Mapping[str, Any]], found: Sequence[Mapping[str, Any]]) -> None:
    """What changed from each state to the next, by kind."""
    for place in range(len(states) - 1):
        names = f"{escape.code(states[place]['name'], 60)} → {escape.code(states[place + 1]['name'], 60)}"
        mine = [one for one in found if one.get("from") == place]
        if not mine:
            st.markdown(f"**From** {names}: nothing changed.")
            continue
        st.markdown(f"**From** {names}")
        for kind, title in _KINDS.items():
            texts = [str(one["text"]) for one in mine if one.get("kind") == kind]
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
    value = _answer(_job(files, log.owner, after.id), after.name)
    if value is None:
        return
    if "states" in value:
        for one in value["states"]:
            stages(one)
        changes(value["states"], value.get("changes") or ())
        return
    fingerprints(value["fingerprints"], value.get("changes") or ())


def fingerprints(found: Sequence[Mapping[str, Any]], changed: Sequence[str]) -> None:
    """Fingerprints of one or two files, oldest first, and what differs."""
    if len(found) == 2:
        if found[0]["sha256"] == found[1]["sha256"]:
            render.verdict("good", "The same", "Both hold the same values.")
        else:
            render.verdict("careful", "Different", "The data changed.")
            st.markdown("\n".join(f"- {escape.markdown(text, 300)}" for text in changed[:_MOST_SHOWN]))
    for one in found:
        st.markdown(f"{escape.code(one['name'])} · {words.plural(len(one['parts']), 'part')}")
        st.code(str(one["sha256"]), language=None)
        if len(one["parts"]) > 1:
            parts = one["parts"][:_MOST_SHOWN]
            st.dataframe(
                {
                    "Part": [escape.clip(part["name"]) for part in parts],
                    "Shape": [" × ".join(f"{size:,}" for size in part["shape"]) or "scalar" for part in parts],
                    "Type": [escape.clip(part["dtype"], 40) for part in parts],
                    "Fingerprint": [str(part["sha256"])[:16] for part in parts],
                },
                hide_index=True,
                key=f"parts-{one['sha256']}",
            )


def _uploaded(owner: str, role: str, title: str, hint: str) -> Entry | None:
    return kept_upload.chosen(role, owner, key=f"versions-{role}", title=title, hint=hint, other="Other")


def _job(files: Mapping[str, ModelFile], owner: str, entry_id: str) -> JobState:
    job = Job("read_versions", dict(files), {}, Budget(_MEMORY_BYTES, _TIME_S))
    found = progress.find(progress.start(job, owner=owner, entry_id=entry_id))
    assert found is not None, "a job just submitted is known"
    return found


def _answer(state: JobState, subject: str) -> Mapping[str, Any] | None:
    if not state.done:
        progress.watch(state, subject=subject, may_cancel=True)
        return None
    assert state.result is not None
    if state.result.status is not Status.OK:
        render.ending(state)
        return None
    return state.result.value
