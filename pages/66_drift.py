"""Has the data changed?"""

from __future__ import annotations

import streamlit as st

from dashboard import analysis, described, linked, panel, progress, render, rerun, session
from dashboard.deployment import (
    drift_fit,
    drift_inputs,
    drift_jobs,
    drift_kept,
    drift_monitors,
    drift_parts,
    drift_sides,
)
from stethoscope.jobs.protocol import JobState
from stethoscope.types import Architecture

PAGE = {"title": "Drift", "section": "Deployment", "url_path": "drift", "icon": ""}


def compare(view: session.View, architecture: Architecture | None) -> None:
    """Two sides, the settings, the button; and the answer."""
    state = drift_jobs.shown(view)
    with st.container(border=True):
        sides = drift_sides.choose(view, state)
        known = drift_fit.known(view, architecture, sides.reference) if sides is not None else None
        if sides is not None and known is not None:
            chosen = drift_inputs.draw(view, architecture, sides, known)
            if chosen.go.button("Compare", type="primary", key="run-Compare", disabled=not chosen.may, width="stretch"):
                drift_jobs.begin(
                    drift_jobs.job(view, architecture, sides, chosen.params, with_model=chosen.with_model), view
                )
                rerun.whole_page()
    if state is not None:
        answered(state, view)
    elif sides is None:
        drift_sides.invitation()
    else:
        st.caption(
            "Every feature is tested and corrected for how many there are; the rows are also compared as wholes. Where no drift is found, you "
            "see how small a drift so few rows could have shown."
        )


def answered(state: JobState, view: session.View) -> None:
    """How far a comparison is, or what it came to, with the place to keep it."""
    if not state.done:
        progress.watch(state, subject="Drift", may_cancel=panel.may_cancel(state, view))
        return
    drift_parts.answer(state, view, drift_kept.save_from)


def model_in_view(view: session.View) -> tuple[Architecture | None, bool]:
    """The model's description where it can be run, and whether it is known by now."""
    if view.entry is None:
        return None, True
    found = described.architecture(view)
    if found is None:
        return None, analysis.describe(view.entry).done
    return (None if found.runnable else found), True


def page() -> None:
    """The question, then the comparison or the monitors."""
    view = session.current()
    render.question("Has the data changed?")
    architecture, ready = model_in_view(view)
    if not ready:
        return
    drift_kept.take_next()
    monitors = drift_kept.of_view(view)
    parts = {drift_kept.COMPARE: "Compare", drift_kept.MONITORS: f"Monitors ({len(monitors):,})"}
    if linked.segments("Part of the page", parts, drift_kept.COMPARE, drift_kept.PART) == drift_kept.MONITORS:
        drift_monitors.draw(view, architecture, monitors)
    else:
        compare(view, architecture)


page()
