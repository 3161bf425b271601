"""What pages with studies share: a button that starts one, where it stands, cancel, and the one to show."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from dashboard import escape, fragments, render, rerun, session
from dashboard.session import View
from stethoscope.lab.studies import Study, Work, studies

REFRESH_S = 0.7
Draw = Callable[[Mapping[str, Any]], None]


def button(label: str, kind: str, work: Callable[[], Work], view: View, *, disabled: bool = False) -> None:
    """The button that starts a study of the current model and puts it into the address; one at a time."""
    assert view.entry is not None
    latest = studies().latest(kind, view.entry.id)
    busy = latest is not None and not latest.done
    if st.button(label, type="primary", key=f"study-{kind}", width="stretch", disabled=disabled or busy):
        session.remember("study", studies().start(kind, view.entry.id, view.owner, work()))
        rerun.whole_page()


def shown(kind: str, view: View, progress: Callable[[Mapping[str, Any]], tuple[float, str]], draw: Draw) -> bool:
    """Draws the study under way (moving, with cancel), else that of the address or the last; returns whether there is one.

    Args:
        kind: of the study.
        view: whose model.
        progress: from a report to (share done, what it is doing).
        draw: draws a report, finished or not.
    """
    assert view.entry is not None
    study = _to_show(kind, view.entry.id)
    if study is None:
        return False
    session.remember("study", study.id)
    if study.done:
        _ended(study, draw)
        return True
    entry_id, study_id = view.entry.id, study.id
    may_cancel = study.owner == view.owner or view.mine

    @fragments.part(run_every=REFRESH_S)
    def moving() -> None:
        now = studies().find(study_id, entry_id)
        if now is None or now.done:
            rerun.whole_page()
            return
        line, stop = st.columns([6, 1], vertical_alignment="center")
        share, text = progress(now.value)
        line.progress(min(1.0, max(0.0, share)), text=escape.markdown(text, 160) or "Starting")
        if may_cancel and stop.button("Cancel", key=f"cancel-page-{study_id}", width="stretch"):
            studies().cancel(study_id)
        if now.value:
            draw(now.value)

    moving()
    return True


def _to_show(kind: str, entry_id: str) -> Study | None:
    latest = studies().latest(kind, entry_id)
    asked = session.recalled("study")
    if asked is None or latest is None or not latest.done:
        return latest
    found = studies().find(asked, entry_id)
    return found if found is not None and found.kind == kind else latest


def _ended(study: Study, draw: Draw) -> None:
    if study.reason:
        render.verdict("bad", "Failed", "This could not finish.")
        st.markdown(escape.sentences(study.reason))
    elif study.cancelled:
        render.verdict("plain", "Cancelled", "What was found before it ended is below.")
    if study.value:
        draw(study.value)
