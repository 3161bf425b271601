"""Jobs that read the data in view: one that was already made for the same question, or a new one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeVar

import streamlit as st

from dashboard import progress, render, rerun
from dashboard.session import View
from stethoscope.codec import answer_of
from stethoscope.jobs import engine
from stethoscope.jobs.protocol import JobState
from stethoscope.jobs.store import Entry
from stethoscope.types import Budget, Job, Status

A = TypeVar("A")
MEMORY_BYTES: Final = 4 << 30
TIME_S: Final = 180.0


def reading(entry: Entry, params: Mapping[str, Any]) -> Job:
    """The job that looks at rows of the data; `params` as the task `read_data` takes them."""
    said = {name: value for name, value in params.items() if value not in (None, {}, [])}
    return Job("read_data", {"data": entry.file}, said, Budget(MEMORY_BYTES, TIME_S))


def asked(job: Job, entry: Entry, view: View) -> JobState:
    """The newest such job on the data, else a new one: what failed or was cancelled is not started over on every look."""
    found = find(job, entry)
    return found or engine().state(progress.start(job, owner=view.owner, entry_id=entry.id))


def find(job: Job, entry: Entry) -> JobState | None:
    """The newest job of this kind with these parameters on the data; an answer of another version is as good as none."""
    wanted = dict(job.params)
    states = (state for state in engine().jobs(entry_id=entry.id) if state.kind == job.kind)
    return next((state for state in states if dict(state.params) == wanted and progress.is_readable(state)), None)


def answer(state: JobState, job: Job, kind: type[A], entry: Entry, view: View, *, height: int = 420) -> A | None:
    """What a job answered; None after drawing how far it is, or how it ended instead."""
    if state.result is None:
        progress.watch(state, subject=entry.name, may_cancel=state.owner == view.owner)
        st.skeleton(height=height)
        return None
    if state.result.status is Status.OK:
        return answer_of(state.result, kind)
    render.ending(state)
    if render.may_end_otherwise(state.result) and st.button("Read it again", key=f"again-{job.kind}"):
        engine().submit(job, owner=view.owner, entry_id=entry.id, fresh=True)
        rerun.whole_page()
    return None
