"""Jobs of one kind on the model in view, or on none, all of them in the address: shown again by whoever opens the link."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import streamlit as st

from dashboard import fragments, progress, rerun, session
from dashboard.session import View
from stethoscope.jobs import engine
from stethoscope.jobs.state import JobState


def on_the_model(state: JobState, view: View) -> bool:
    """Whether a job is about the model in view; about none where none is."""
    return state.entry_id == _subject(view)


def _subject(view: View) -> str:
    return "" if view.entry is None else view.entry.id


@dataclass(frozen=True)
class LinkedJobs:
    """The jobs of one kind."""

    kind: str
    name: Callable[[JobState], str]
    """What a job is shown under (a target, another model); "" where it is shown under nothing."""
    most: int
    """Shown at once."""
    gone: str
    """Said where none of a link's jobs is kept any more."""
    under_way: Callable[[View], Iterable[str]]
    """Ids of jobs to show where neither the address nor this tab has any."""
    belongs: Callable[[JobState, View], bool] = on_the_model
    """Whether a job is shown beside what is in view."""
    part: str = ""
    """What this tab remembers its jobs for, besides the model."""

    def shown(self, view: View, *, quiet: bool = False) -> dict[str, JobState]:
        """The jobs to show by name: those of the address, else of this tab, else those under way.

        Args:
            view: who looks, at which model.
            quiet: whether to say nothing of jobs that are gone, and to leave the address as it is.
        """
        asked = [one for one in (session.recalled("job") or "").split(",") if one]
        found = self._of_view(asked, view)
        if asked and not found and not quiet:
            session.remember("job", None)
            if not any(progress.find(one) for one in asked):
                st.info(self.gone)
        if not found:
            found = self._of_view(st.session_state.get(self._key(view)) or (), view)
        if not found:
            found = self._of_view(self.under_way(view), view)
        if found and not quiet:
            self.keep({name: state.id for name, state in found.items()}, view)
        return found

    def keep(self, ids: Mapping[str, str], view: View) -> None:
        """Puts jobs into the address and this tab, by name."""
        st.session_state[self._key(view)] = list(ids.values())
        session.remember("job", ",".join(ids.values()) or None)

    def _of_view(self, ids: Iterable[str], view: View) -> dict[str, JobState]:
        """The jobs that belong to what is in view; of two of one name, the later."""
        found = {}
        for one in list(ids)[-2 * self.most :]:
            state = progress.find(one)
            if state is None or state.kind != self.kind or not progress.is_readable(state):
                continue
            if self.belongs(state, view) and self.name(state):
                found[self.name(state)] = state
        return found

    def _key(self, view: View) -> str:
        return f"_run-{self.kind}-{_subject(view)}-{self.part}-all"


def watch(states: Mapping[str, JobState], titles: Mapping[str, str], view: View, most_lines: int) -> None:
    """Moving lines for the jobs that are not done; when one ends, the whole page runs once more.

    Args:
        states: by name.
        titles: what each is called, by name. Hostile.
        view: with a model.
        most_lines: of more than this, those that wait have no line, and one button cancels all.
    """
    waiting = {key: state.id for key, state in states.items() if not state.done}
    if not waiting:
        return

    @fragments.part(run_every=progress.REFRESH_S)
    def lines() -> None:
        now = {key: progress.find(job_id) for key, job_id in waiting.items()}
        if any(state is None or state.done for state in now.values()):
            rerun.whole_page()
        active = {key: state for key, state in now.items() if state is not None}
        few = len(active) <= most_lines
        for key, state in active.items():
            if few or state.status == "running":
                progress.bar(state, subject=titles.get(key, ""), may_cancel=_may_cancel(state, view))
        mine = [state for state in active.values() if _may_cancel(state, view)]
        if not few and mine and st.button("Cancel all", key="cancel-page-all"):
            for state in mine:
                engine().cancel(state.id)

    lines()


def _may_cancel(state: JobState, view: View) -> bool:
    return state.owner == view.owner or view.mine
