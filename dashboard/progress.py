"""Running jobs on a page: start, watch, cancel. Nothing here waits for a job to finish."""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Callable, Iterable

import streamlit as st

from dashboard import escape, fragments, words
from dashboard.kept_answers import kept
from stethoscope.errors import NotFound
from stethoscope.jobs import engine
from stethoscope.jobs.protocol import JobState
from stethoscope.task import misfit
from stethoscope.types import Job, JobResult, Status

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
    "changes": "Trying a change",
    "time": "Taking times",
    "collect": "Joining the outputs",
    "predict": "Predicting",
    "save": "Saving the outputs",
    "done": "Done",
}


def start(job: Job, *, owner: str, entry_id: str) -> str:
    """Submits `job`, gives a cached or very short one the chance to be over at once, and returns its id."""
    return start_all([job], owner=owner, entry_id=entry_id)[0]


def start_all(jobs: Iterable[Job], *, owner: str, entry_id: str) -> list[str]:
    """The same for several, which have that chance together."""
    ids = [engine().submit(job, owner=owner, entry_id=entry_id) for job in jobs]
    until = time.monotonic() + _PATIENCE_S
    with contextlib.suppress(TimeoutError):
        for job_id in ids:
            engine().wait(job_id, max(0.0, until - time.monotonic()))
    return ids


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


def watch(state: JobState, *, subject: str, may_cancel: bool) -> None:
    """Draws a moving progress line for an unfinished job; when it ends, the whole page runs once more."""
    until_done(state, lambda now: bar(now, subject=subject, may_cancel=may_cancel))


def until_done(state: JobState, draw: Callable[[JobState], object], *, every_s: float = fragments.REFRESH_S) -> None:
    """Draws an unfinished job again and again; when it ends, the whole page runs once more."""

    def under_way() -> JobState | None:
        now = find(state.id)
        return None if now is None or now.done else now

    fragments.moving(True, lambda: under_way() is not None, lambda: draw(under_way() or state), every_s)


def bar(state: JobState, *, subject: str, may_cancel: bool, narrow: bool = False) -> None:
    """One job: what it is doing, how far it is, and a cancel button (below the line where it is `narrow`)."""
    cancel = functools.partial(engine().cancel, state.id) if may_cancel else None
    line(sentence(state, subject), state.progress.fraction, cancel, state.id, narrow=narrow)


def line(
    text: str, fraction: float | None, cancel: Callable[[], None] | None, about: str, *, narrow: bool = False
) -> None:
    """What runs in words, as Markdown, how much of it is done, and a button that ends it.

    Args:
        text: safe to be shown.
        fraction: done.
        cancel: what the button does; None for those who may not.
        about: id of what runs.
        narrow: whether the button is below.
    """
    left, right = (st.container(), st.container()) if narrow else st.columns([6, 1], vertical_alignment="center")
    left.progress(0.0 if fraction is None else min(1.0, max(0.0, fraction)), text=text)
    key = f"cancel-{'side' if narrow else 'page'}-{about}"
    if cancel is not None:
        # Not `if button():` — news may run the page again before the line is drawn, and the click would be lost.
        right.button("Cancel", key=key, width="stretch", on_click=cancel)


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
