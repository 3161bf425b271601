"""What runs, on every page: started by a button, put into the address, watched, cancelled, shown again by whoever has the link.

Jobs stand in the address as `job` (ids with commas between them), studies as `study` or under a name of their own.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import streamlit as st

from dashboard import escape, fragments, progress, render, rerun, session
from dashboard.session import View
from stethoscope.jobs import engine
from stethoscope.jobs.protocol import JobState
from stethoscope.studies.study import Kind, Study, studies
from stethoscope.types import Job

R = TypeVar("R")
ONE = "answer"
"""The name of a job where only one is shown."""


def on_the_model(state: JobState, view: View) -> bool:
    """Whether a job is about the model in view; about none where none is."""
    return state.entry_id == subject(view)


@dataclass(frozen=True)
class Panel:
    """The jobs of one kind that are shown beside what is in view, by name."""

    kind: str
    gone: str = "The run in this link is not kept any more. Its settings are below; run it again to see the same."
    """Said where none of a link's jobs is kept any more."""
    name: Callable[[JobState], str] = lambda state: ONE
    """What a job is shown under (a target, another model); "" where it is shown under nothing."""
    most: int = 1
    """Shown at once."""
    belongs: Callable[[JobState, View], bool] = on_the_model
    part: str = ""
    """What this tab remembers its jobs for, besides the model."""
    cancels: bool = False
    """Whether a job ends the one under way that it takes the place of: nobody would see it again."""

    def shown(self, view: View, *, quiet: bool = False) -> dict[str, JobState]:
        """The jobs to show: those of the address, else of this tab, else those under way, whoever began them.

        Args:
            view: who looks, at which model.
            quiet: whether to say nothing of jobs that are gone, and to leave the address as it is.
        """
        asked = [job_id for job_id in (session.recalled("job") or "").split(",") if job_id]
        states = self._of_view(asked, view)
        if asked and not states and not quiet:
            session.remember("job", None)
            if not any((state := progress.find(job_id)) and progress.is_readable(state) for job_id in asked):
                st.info(self.gone)
        states = states or self._of_view(st.session_state.get(self._key(view)) or (), view)
        if not states:
            under_way = engine().jobs(entry_id=view.entry.id, active=True) if view.entry is not None else ()
            states = self._of_view([state.id for state in reversed(under_way)], view)
        if states and not quiet:
            self._keep({name: state.id for name, state in states.items()}, view)
        return states

    def begin(self, jobs: Sequence[Job], view: View, *, entry_id: str = "") -> list[str]:
        """Submits jobs, shows them in place of earlier ones of the same names, and returns their ids.

        Args:
            jobs: what is asked.
            view: who asks, about which model.
            entry_id: what the jobs are filed under; the model in view if not given.
        """
        known = {name: state.id for name, state in self.shown(view, quiet=True).items()}
        ids = progress.start_all(jobs, owner=view.owner, entry_id=entry_id or subject(view))
        for job_id in ids:
            name = self.name(engine().state(job_id))
            before = progress.find(known.pop(name, ""))
            if self.cancels and before is not None and before.id != job_id and may_cancel(before, view):
                engine().cancel(before.id)
            known[name] = job_id
        self._keep(dict(list(known.items())[-self.most :]), view)
        return ids

    def finished(self, view: View) -> JobState | None:
        """The last job of this tab, if it is done; nothing is drawn."""
        state = self._of_view(st.session_state.get(self._key(view)) or (), view).get(ONE)
        return state if state is not None and state.done else None

    def _keep(self, ids: Mapping[str, str], view: View) -> None:
        st.session_state[self._key(view)] = list(ids.values())
        session.remember("job", ",".join(ids.values()) or None)

    def _of_view(self, ids: Iterable[str], view: View) -> dict[str, JobState]:
        """The jobs that belong to what is in view; of two of one name, the later."""
        states = {}
        for job_id in list(ids)[-2 * self.most :]:
            state = progress.find(job_id)
            if state is None or state.kind != self.kind or not progress.is_readable(state):
                continue
            if self.belongs(state, view) and (name := self.name(state)):
                states[name] = state
        return states

    def _key(self, view: View) -> str:
        return f"_run-{self.kind}-{subject(view)}-{self.part}"


def subject(view: View) -> str:
    """What jobs about the model in view are filed under."""
    return "" if view.entry is None else view.entry.id


def may_cancel(running: JobState | Study[Any], view: View) -> bool:
    """Whether the viewer may end it: who asked, and whose model it is about."""
    return running.owner == view.owner or (view.mine and running.entry_id == subject(view))


def button(label: str, make: Callable[[], Job], view: View, *, disabled: bool = False) -> None:
    """The page's primary button: submits the job and puts it into the address."""
    if st.button(label, type="primary", key=f"run-{label}", disabled=disabled, width="stretch"):
        begin(make(), view)


def begin(job: Job, view: View) -> None:
    """Submits a job for the current model, shows it, and lets the sidebar see it."""
    Panel(job.kind).begin([job], view)
    rerun.whole_page()


def state(kind: str, view: View, invitation: str = "") -> JobState | None:
    """The job to show once it is done; draws how far it is, what one would tell where there is none, and returns None for both."""
    assert view.entry is not None
    job = Panel(kind).shown(view).get(ONE)
    if job is None:
        if invitation:
            st.caption(invitation)
        return None
    if not job.done:
        progress.watch(job, subject=view.entry.name, may_cancel=may_cancel(job, view))
        return None
    return job


def watch(states: Mapping[str, JobState], titles: Mapping[str, str], view: View, most_lines: int) -> None:
    """Moving lines for the jobs that are not done; when one ends, the whole page runs once more.

    Args:
        states: by name.
        titles: what each is called, by name. Hostile.
        view: who looks.
        most_lines: of more than this, those that wait have no line, and one button cancels all.
    """
    waiting = {name: state.id for name, state in states.items() if not state.done}

    def active() -> dict[str, JobState]:
        now = {name: progress.find(job_id) for name, job_id in waiting.items()}
        return {name: state for name, state in now.items() if state is not None and not state.done}

    def lines() -> None:
        now = active()
        few = len(now) <= most_lines
        for name, state in now.items():
            if few or state.status == "running":
                progress.bar(state, subject=titles.get(name, ""), may_cancel=may_cancel(state, view))
        mine = [state for state in now.values() if may_cancel(state, view)]
        if not few and mine:
            st.button("Cancel all", key="cancel-page-all", on_click=_cancel, args=([state.id for state in mine],))

    if waiting:
        fragments.moving(len(waiting), lambda: len(active()), lines)


def _cancel(job_ids: Sequence[str]) -> None:
    for job_id in job_ids:
        engine().cancel(job_id)


def study_button(label: str, kind: Kind[Any], start: Callable[[], str], view: View, *, disabled: bool = False) -> None:
    """The button that starts a study of the current model and puts it into the address; one at a time."""
    assert view.entry is not None
    busy = studies().under_way(kind, view.entry.id) is not None
    if st.button(label, type="primary", key=f"study-{kind.id}", width="stretch", disabled=disabled or busy):
        session.remember("study", start())
        rerun.whole_page()


def chosen(kind: Kind[R], view: View, address: str) -> Study[R] | None:
    """The study that the address names, where it names none the one under way, else the last; None where that is not kept."""
    assert view.entry is not None
    named = session.recalled(address)
    return studies().find(kind, named, view.entry.id) if named else studies().latest(kind, view.entry.id)


def study(kind: Kind[R], view: View, line: Callable[[R], tuple[float, str]], draw: Callable[[R], None]) -> bool:
    """Draws the study of the address, else the one under way, else the last; returns whether there is one.

    Args:
        kind: of the study.
        view: whose model.
        line: from a report to (share done, what it is doing).
        draw: draws a report, finished or not.
    """
    assert view.entry is not None
    shown = chosen(kind, view, "study") or studies().latest(kind, view.entry.id)
    if shown is None:
        return False
    session.remember("study", shown.id)
    if not shown.done:
        watch_study(kind, shown, view, line)
    elif shown.reason:
        render.verdict("bad", "Failed", "This could not finish.")
        st.markdown(escape.sentences(shown.reason))
    elif shown.cancelled:
        render.verdict("plain", "Cancelled", "What was found before it ended is below.")
    draw(shown.report)
    return True


def watch_study(kind: Kind[R], shown: Study[R], view: View, line: Callable[[R], tuple[float, str]]) -> None:
    """A moving line for a study under way; when there is more to show than progress, the whole page runs once more."""

    def now() -> Study[R] | None:
        return studies().find(kind, shown.id, shown.entry_id)

    def bar() -> None:
        running = now()
        if running is None:
            return
        share, text = line(running.report)
        cancel = functools.partial(studies().cancel, shown.id) if may_cancel(shown, view) else None
        progress.line(escape.markdown(text, 240) or "Starting", share, cancel, shown.id)

    fragments.moving(_stands(kind, shown), lambda: _stands(kind, now()), bar)


def _stands(kind: Kind[R], study: Study[R] | None) -> object:
    return None if study is None or study.done else kind.answers(study.report)
