"""Which training log is looked at: an upload, the sample, or a folder of the server that its operator allows."""

from __future__ import annotations

import functools
import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import streamlit as st

from dashboard import escape, progress, render, rerun, session, upload_view, words
from dashboard.training import followed, mlflow_parts
from stethoscope.errors import NotFound, StethoscopeError
from stethoscope.jobs import engine
from stethoscope.jobs.protocol import JobState
from stethoscope.jobs.store import store
from stethoscope.settings import settings
from stethoscope.types import Budget, Job, ModelFile, Status, UploadKind

SAMPLE: Final = "sample-training-runs"
"""What the address says for the sample log."""
SAMPLE_FILE: Final = "training_runs.logs.zip"
_LOG, _FOLDER = session.LOG, "folder"
_MEMORY_BYTES: Final = 4 << 30
_READ_S: Final = 300.0
HINT: Final = (
    "TensorBoard event files or a whole log folder, an MLflow store, Keras' CSV or history as JSON, a DVC repository, or any of "
    "these as zip or tar. It stays on this server."
)


@dataclass(frozen=True)
class LogView:
    """A log that has been read."""

    job_id: str
    """Of the job that read it, or of the follower of its folder: the id in the routes."""
    title: str
    """What the user calls it. Hostile text: escape before showing."""
    file: ModelFile | None
    """The upload or the sample; None for a folder that is followed."""
    folder: Path | None
    owner: str
    """Who looks."""
    index: Mapping[str, Any] = field(repr=False)
    """Runs, tags and media, as GET api/runs/{id}/index answers."""
    live: bool = False
    entry_id: str = ""
    """What its jobs are filed under."""

    @property
    def kinds(self) -> frozenset[str]:
        """Kinds of its media: "histogram", "image" …"""
        return frozenset(str(one["kind"]) for one in self.index.get("media", ()))


def current(view: session.View) -> LogView | None:
    """The log of the address, else of this browser tab; draws what there is to choose or to wait for, and returns None then."""
    folder, chosen = _kept(_FOLDER), _kept(_LOG)
    try:
        if folder and not chosen:
            return _of_folder(folder, view.owner)
        if chosen:
            file = _file(chosen)
            return _read(file, chosen, view)
    except NotFound as error:
        st.warning(escape.sentences(error))
        _choose(None)
    _empty(view)
    return None


def heading(log: LogView) -> None:
    """One line: the log, what is in it, and how to take another one."""
    runs = len(log.index.get("runs", ()))
    tags = sum(1 for tag in log.index.get("tags", ()) if tag["points"])
    about = ["followed while it is written"] if log.live else [words.plural(runs, "run"), words.plural(tags, "curve")]
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute", gap="small"):
        st.markdown(f"{escape.code(log.title, 80)} · {' · '.join(about)}", width="content")
        st.button("Other log", key="other-log", on_click=_choose, args=(None,))


def submit(kind: str, log: LogView, params: Mapping[str, Any] | None = None) -> JobState:
    """The job of this kind on the whole log: one that was already made, or a new one."""
    place = log.file or ModelFile(log.folder or Path(), log.title)
    return _job(kind, place, log.entry_id, log.owner, params or {})


def judged(kind: str, log: LogView, every_s: float) -> JobState:
    """The newest job of this kind on the log. One that is still written gets a new one when something was added.

    Args:
        kind: of the job.
        log: what to judge.
        every_s: seconds that lie between two jobs at least; until a new one is done, the one before it is returned.
    """
    if not log.live:
        return submit(kind, log)
    states = [state for state in engine().jobs(entry_id=log.entry_id) if state.kind == kind and _usable(state)]
    done = next((state for state in states if state.result is not None), None)
    under_way = next((state for state in states if state.result is None), None)
    as_of = int(log.index.get("revision", 0))
    old = done is None or (done.params.get("as_of") != as_of and time.time() - done.created_s > every_s)
    if under_way is None and old:
        under_way = submit(kind, log, {"as_of": as_of})
    return done or under_way or submit(kind, log)


def _usable(state: JobState) -> bool:
    """Whether it was neither cancelled nor answered by another version."""
    return (state.result is None or state.result.status is not Status.CANCELLED) and progress.is_readable(state)


def _kept(name: str) -> str | None:
    """A part of the address that other pages do not know: it comes back from this browser tab."""
    here = session.recalled(name)
    if here:
        st.session_state[f"_{name}"] = here
        st.session_state.pop(f"_{_FOLDER if name == _LOG else _LOG}", None)
    kept = here or st.session_state.get(f"_{name}")
    if kept:
        session.remember(name, str(kept))
    return str(kept) if kept else None


def _choose(chosen: str | None, folder: str | None = None) -> None:
    for name, value in ((_LOG, chosen), (_FOLDER, folder)):
        st.session_state.pop(f"_{name}", None)
        session.remember(name, value)
    for name in ("view", "tab"):
        session.remember(name, None)


def _file(chosen: str) -> ModelFile:
    if chosen == SAMPLE:
        path = settings().samples_dir / SAMPLE_FILE
        if not path.is_file():
            raise NotFound("Sample log: expected it beside the sample models, got nothing. Drop a log of your own.")
        return ModelFile(path, SAMPLE_FILE, _digest(path, path.stat().st_mtime_ns))
    return store().get(chosen).file


@functools.lru_cache(4)
def _digest(path: Path, _changed_ns: int) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _job(kind: str, file: ModelFile, entry_id: str, owner: str, params: Mapping[str, Any]) -> JobState:
    for state in engine().jobs(entry_id=entry_id):
        if state.kind == kind and dict(state.params) == dict(params) and _usable(state):
            return state
    job = Job(kind, {"logs": file}, params, Budget(_MEMORY_BYTES, _READ_S))
    return progress.find(progress.start(job, owner=owner, entry_id=entry_id)) or engine().state("")


def _read(file: ModelFile, chosen: str, view: session.View) -> LogView | None:
    state = _job("read_runs", file, chosen, view.owner, {})
    if state.result is None:
        progress.watch(state, subject=file.name, may_cancel=state.owner == view.owner)
        st.skeleton(height=420)
        return None
    if state.result.status is not Status.OK:
        render.ending(state)
        st.button("Choose another log", key="other-log", on_click=_choose, args=(None,))
        return None
    index = followed.opened(state.id).index()
    title = "Sample: digits, trained well and badly" if chosen == SAMPLE else file.name
    return LogView(state.id, title, file, None, view.owner, index, entry_id=chosen)


def _of_folder(folder: str, owner: str) -> LogView:
    place = Path(folder)
    log_id = followed.follow(place)
    found = followed.opened(log_id, look=False)
    return LogView(log_id, place.name, None, place, owner, found.index(), live=True, entry_id=log_id)


def _empty(view: session.View) -> None:
    """Nothing chosen: what goes here."""
    st.caption(
        "A log that a training wrote, while it runs or later. Drop it here: every point of every curve is read and judged."
    )
    if view.problem:
        st.info(escape.sentences(view.problem))
    uploaded = upload_view.show(
        key="training-log", title="Drop training logs here", hint=HINT, expected=UploadKind.LOGS
    )
    if uploaded and st.session_state.get("_log_arrived") != uploaded:
        st.session_state["_log_arrived"] = uploaded
        _choose(uploaded[0])
        rerun.whole_page()
    if followed.allowed_folders():
        with st.container(border=True):
            _folders()
    mlflow_parts.choose(view.owner, _arrived)
    with st.container(border=True):
        st.markdown("**No log at hand?** Look at six small trainings of ours: three went well, three have a fault.")
        st.button("Open the sample log", key="sample-log", type="primary", on_click=_choose, args=(SAMPLE,))


def _arrived(entry_id: str) -> None:
    _choose(entry_id)
    rerun.whole_page()


def _folders() -> None:
    """A folder of the server: the allowed ones, what is in them, or a path."""
    st.markdown("**Or follow a folder of this server** while a training writes to it:")
    roots = [str(place) for place in followed.allowed_folders()]
    here = st.session_state.get("_browsed") or (roots[0] if len(roots) == 1 else "")
    try:
        below = [str(place) for place in followed.subfolders(here)] if here else roots
    except StethoscopeError as error:
        st.warning(escape.sentences(error))
        here, below = "", roots
    path, inside, follow = st.columns([5, 4, 2], vertical_alignment="bottom")
    typed = path.text_input("Folder", here, key=f"folder-{here}", placeholder="Choose or type a path")
    picked = inside.selectbox(
        "Folders in it",
        below,
        index=None,
        format_func=lambda one: escape.clip(Path(one).name or one, 60),
        placeholder=f"{words.plural(len(below), 'folder')}" if below else "No folder in it",
        key=f"inside-{here}",
        disabled=not below,
    )
    if picked:
        st.session_state["_browsed"] = picked
        rerun.whole_page()
    if follow.button("Follow", key="follow", width="stretch", disabled=not typed):
        _choose(None, typed)
        rerun.whole_page()
    if here and here not in roots:
        st.button("Folder above", key="folder-up", on_click=_browse, args=(str(Path(here).parent),))


def _browse(folder: str) -> None:
    st.session_state["_browsed"] = folder
