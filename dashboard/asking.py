"""A job whose question follows from what is chosen on the page: asked anew when the choice changes, never twice."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from dashboard import panel, progress, render
from dashboard.data import data_choice
from dashboard.session import View
from stethoscope.jobs import engine
from stethoscope.jobs.protocol import JobState
from stethoscope.types import Job, JobResult, Status

_MOST_KEPT = 200


def answer(job: Job, view: View, subject: str, *, slot: str) -> JobResult | None:
    """The answer to `job`, asked now if it was not before; None while it is under way or when it ended without one, which is drawn.

    Args:
        job: the question.
        view: who asks, about which model.
        subject: what the progress line is about.
        slot: questions of one slot replace each other: the one before is cancelled if it is still under way.
    """
    state = state_of(job, view, slot=slot)
    if not state.done:
        progress.watch(state, subject=subject, may_cancel=panel.may_cancel(state, view))
        return None
    result = state.result
    if result is not None and result.status is Status.OK:
        return result
    render.ending(state)
    if result is not None and "data" in job.files and "model" in job.files:
        data_choice.make_it_fit(result)
    if result is None or render.may_end_otherwise(result):
        st.button("Ask again", key=f"again-{slot}", on_click=_forget, args=(job, view))
    return None


def covered(job: Job, view: View, covers: Callable[[Mapping[str, Any], JobResult], bool]) -> JobResult | None:
    """The answer to a question of the same kind about the same files that holds what `job` asks for; the newest of them.

    Args:
        job: the question.
        view: who asks, about which model.
        covers: whether the parameters of another question and its answer do.
    """
    about = json.loads(_key(job, view))[:-1]
    for key, job_id in reversed(_asked().items()):
        *same, params = json.loads(key)
        if same != about:
            continue
        state = progress.find(job_id)
        result = None if state is None or not state.done else state.result
        if result is not None and result.status is Status.OK and covers(params, result):
            return result
    return None


def state_of(job: Job, view: View, *, slot: str = "") -> JobState:
    """The job that this tab asked this with, else a new one, which is over at once where it was answered before."""
    known, key, last = _asked(), _key(job, view), f"_asked-last-{slot}"
    state = progress.find(known.get(key, ""))
    if state is None or not progress.is_readable(state):
        before = progress.find(st.session_state.get(last, "")) if slot else None
        if before is not None and not before.done:
            engine().cancel(before.id)
        known[key] = progress.start(job, owner=view.owner, entry_id=panel.subject(view))
        while len(known) > _MOST_KEPT:
            del known[next(iter(known))]
        state = engine().state(known[key])
    st.session_state[last] = state.id
    return state


def _forget(job: Job, view: View) -> None:
    _asked().pop(_key(job, view), None)


def _key(job: Job, view: View) -> str:
    files = {role: file.sha256 or str(file.path) for role, file in job.files.items()}
    return json.dumps([job.kind, panel.subject(view), files, dict(job.params)], sort_keys=True)


def _asked() -> dict[str, str]:
    known: dict[str, str] = st.session_state.setdefault("_asked-jobs", {})
    return known
