"""What every page that runs something shares: the run named in the address, one under way, or none yet."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from dashboard import escape, progress, rerun, session, words
from dashboard.session import View
from stethoscope.jobs.state import JobState
from stethoscope.tasks.feeds import Batching
from stethoscope.types import Architecture, Job


def button(label: str, make: Callable[[], Job], view: View, *, disabled: bool = False) -> None:
    """The page's primary button: submits the job and puts it into the address."""
    if st.button(label, type="primary", key=f"run-{label}", disabled=disabled, width="stretch"):
        begin(make(), view)


def begin(job: Job, view: View) -> None:
    """Submits a job for the current model, shows it, and lets the sidebar see it."""
    assert view.entry is not None
    job_id = progress.start(job, owner=view.owner, entry_id=view.entry.id)
    session.remember("job", job_id)
    st.session_state[_key(job.kind, view.entry.id)] = job_id
    rerun.whole_page()


def state(kind: str, view: View, invitation: str = "") -> JobState | None:
    """The run to show: the one in the address, else the newest under way on this model, else the last of this tab.

    Draws a moving progress line for one that is not done, and what a run would tell where there is none; returns None
    for both.
    """
    assert view.entry is not None
    found = _from_address(kind, view) or progress.active(kind, view.entry.id) or _last(kind, view)
    if found is None:
        if invitation:
            st.caption(invitation)
        return None
    session.remember("job", found.id)
    if not found.done:
        progress.watch(found, subject=view.entry.name, may_cancel=found.owner == view.owner or view.mine)
        return None
    return found


def finished(kind: str, view: View) -> JobState | None:
    """The last run of this tab, if it is done; nothing is drawn."""
    found = _last(kind, view)
    return found if found is not None and found.done else None


def _from_address(kind: str, view: View) -> JobState | None:
    job_id = session.recalled("job")
    if job_id is None or view.entry is None:
        return None
    found = progress.find(job_id)
    if found is not None and found.kind == kind and not progress.is_readable(found):
        found = None
    if found is not None and found.entry_id == view.entry.id:
        return found if found.kind == kind else None
    session.remember("job", None)
    if found is None:
        st.info("The run in this link is not kept any more. Its settings are below; run it again to see the same.")
    return None


def _last(kind: str, view: View) -> JobState | None:
    assert view.entry is not None
    job_id = st.session_state.get(_key(kind, view.entry.id))
    return progress.find(str(job_id)) if job_id else None


def _key(kind: str, entry_id: str) -> str:
    return f"_run-{kind}-{entry_id}"


def fixed_batch(architecture: Architecture) -> int | None:
    """The number of rows the model insists on in every call, or None."""
    return Batching.of(architecture.inputs).fixed if architecture.inputs else None


def say_fixed_batch(rows: int | None) -> None:
    """Says what a fixed batch means for the settings above."""
    if rows is not None:
        st.caption(
            f"This model takes exactly {words.plural(rows, 'row')} in every call. Input is cut to that; a last call that is short is filled "
            "up, and the filling left out of the result."
        )


def runnable(reason: str) -> bool:
    """Says why a model cannot be run here; returns whether it can."""
    if reason:
        with st.container(border=True):
            st.markdown(f"**This model cannot be run here.** {escape.sentences(reason)}")
            st.caption("Its architecture can still be looked at.")
    return not reason
