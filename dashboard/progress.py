"""Running jobs on a page: start, watch, cancel. Nothing here waits for a job to finish."""

from __future__ import annotations

import time

import streamlit as st

from dashboard import escape, fragments, rerun, words
from dashboard.kept_answers import kept
from stethoscope.errors import NotFound
from stethoscope.jobs import engine
from stethoscope.jobs.state import JobState
from stethoscope.task import misfit
from stethoscope.types import Job, JobResult, Status

REFRESH_S = 0.7
_PATIENCE_S = 0.4
PHASES = {
    "queued": "Waiting for a free worker",
    "starting": "Starting a contained process",
    "read": "Reading the file",
    "check": "Checking the file",
    "describe": "Reading the architecture",
    "draw": "Preparing the drawing",
    "load": "Loading the model",
    "trace": "Tracing the model",
    "configure": "Setting TensorFlow up",
    "measure": "Measuring memory",
    "sweep": "Running batches",
    "time": "Taking times",
    "collect": "Joining the outputs",
    "predict": "Predicting",
    "save": "Saving the outputs",
    "done": "Done",
}


def start(job: Job, *, owner: str, entry_id: str) -> str:
    """Submits `job`, gives a cached or very short one the chance to be over at once, and returns its id."""
    job_id = engine().submit(job, owner=owner, entry_id=entry_id)
    deadline = time.monotonic() + _PATIENCE_S
    while not engine().state(job_id).done and time.monotonic() < deadline:
        time.sleep(0.05)
    return job_id


def find(job_id: str) -> JobState | None:
    """The state of a job, or None when it is no longer kept."""
    try:
        return engine().state(job_id)
    except NotFound:
        return None


def is_readable(state: JobState) -> bool:
    """Whether a job's answer, if it has one, is of the type its kind has now; one of another version may not be."""
    if state.result is None or state.result.status is not Status.OK:
        return True
    return not _misfit(state.result, state.kind)


@kept
def _misfit(result: JobResult, kind: str) -> str:
    return misfit(kind, result.value)


def active(kind: str, entry_id: str) -> JobState | None:
    """The newest unfinished job of this kind on this model, whoever started it and on whichever page."""
    jobs = [state for state in engine().jobs(entry_id=entry_id, active=True) if state.kind == kind]
    return max(jobs, key=lambda state: state.created_s, default=None)


def watch(state: JobState, *, subject: str, may_cancel: bool) -> None:
    """Draws a moving progress line for an unfinished job; when it ends, the whole page runs once more."""

    @fragments.part(run_every=REFRESH_S)
    def line() -> None:
        now = find(state.id)
        if now is None or now.done:
            rerun.whole_page()
        bar(now, subject=subject, may_cancel=may_cancel)

    line()


def bar(state: JobState, *, subject: str, may_cancel: bool, narrow: bool = False) -> None:
    """One job: what it is doing, how far it is, and a cancel button (below the line where it is `narrow`)."""
    text, button = (st.container(), st.container()) if narrow else st.columns([6, 1], vertical_alignment="center")
    fraction = state.progress.fraction
    text.progress(0.0 if fraction is None else min(1.0, max(0.0, fraction)), text=sentence(state, subject))
    key = f"cancel-{'side' if narrow else 'page'}-{state.id}"
    if may_cancel and button.button("Cancel", key=key, width="stretch"):
        engine().cancel(state.id)


def sentence(state: JobState, subject: str) -> str:
    """Says in Markdown-safe words where a job is."""
    if state.status == "queued":
        ahead = state.queue_position
        wait = f"{words.plural(ahead, 'job')} ahead" if ahead > 0 else "next in line"
        return f"{escape.markdown(subject)} · waiting for a free worker, {wait}"
    phase, message = state.progress.phase, state.progress.message
    doing = message or PHASES.get(phase) or phase.replace("_", " ")
    elapsed = (
        words.duration(max(1, round(time.time() - (state.started_s or state.created_s))))
        .replace(".00", "")
        .replace(".0", "")
    )
    return escape.markdown(f"{subject} · {doing[:1].upper()}{doing[1:]}", 200) + f" · {elapsed}"
