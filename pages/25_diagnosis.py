"""What is wrong with this model, why, and what fixes it?"""

from __future__ import annotations

import streamlit as st

from dashboard import cards, described, escape, recipes, render, rerun, run_panel, session
from dashboard.behaviour import diagnosis_inputs, diagnosis_parts
from dashboard.data import data_use
from stethoscope.diagnosis.report import Report
from stethoscope.diagnosis.service import diagnoses
from stethoscope.errors import NotFound
from stethoscope.types import Architecture

PAGE = {"title": "Diagnosis", "section": "Behaviour", "url_path": "diagnosis", "icon": ""}


def ready(view: session.View, architecture: Architecture) -> None:
    """Inputs, the button, and the diagnosis this page shows."""
    assert view.entry is not None
    allowed = cards.hazards(view, architecture.hazards)
    run_panel.runnable(architecture.runnable)
    with st.container(border=True):
        data = diagnosis_inputs.data(view, architecture)
        more, prove_cell, go = st.columns([2, 2, 1], vertical_alignment="bottom")
        with more.popover("Training and logs", width="stretch"):
            st.markdown("**How was it trained?**")
            fit = diagnosis_inputs.fit(view)
            st.markdown("**Training logs**")
            logs = diagnosis_inputs.logs(view)
        prove = prove_cell.toggle(
            "Try the fixes", value=data is not None, disabled=data is None, key=f"prove-{data is not None}",
            help="Trains a copy with and without each fix, three seeds each, for up to a minute",
        )  # fmt: skip
        now = st.session_state.pop("_run_now", False)
        if go.button("Diagnose", type="primary", width="stretch", key="diagnose") or now:
            asked = diagnosis_inputs.request(
                view, data=data, logs=logs, fit=fit if data is not None and allowed else None, prove=prove
            )
            session.remember("diagnosis", diagnoses().start(asked))
            rerun.whole_page()
    kept = diagnoses().history(view.entry.id)
    shown = session.recalled("diagnosis") or diagnoses().running(view.entry.id) or (kept[0].id if kept else None)
    if shown is None:
        st.caption(
            "Reads the architecture, the weights, your data and logs, runs the model on edge cases, trains a copy for a few "
            "seconds, and names the cause of what is wrong. Every check says what it looked at."
        )
        return
    try:
        report = diagnoses().report(view.entry.id, shown)
    except NotFound as error:
        st.info(escape.sentences(error))
        session.remember("diagnosis", None)
        return
    if not report.done:
        diagnosis_parts.running(view, shown, architecture)
        return
    diagnosis_parts.answer(report, architecture, shown, _command(view.entry.name, report))
    diagnosis_parts.history(view, kept, shown)


def _command(name: str, report: Report) -> str:
    asked = report.request
    fit = asked.get("fit")
    options = {
        "data": asked.get("data"),
        **data_use.command_options(asked),
        "logs": asked.get("logs"),
        "fit": None if fit is None else ",".join(f"{key}={value}" for key, value in fit.items()) or "shuffle=true",
    }
    return recipes.command_line("check", name, options) + (" --prove" if asked.get("prove") else "")


def page() -> None:
    """The question, then whatever can be said about it."""
    view = session.current()
    render.question("What is wrong with this model, why, and what fixes it?")
    architecture = described.architecture(view)
    if architecture is not None:
        ready(view, architecture)


page()
