"""What is wrong with this model, why, and what fixes it?"""

from __future__ import annotations

import streamlit as st

from dashboard import described, own_code, panel, recipes, render, run_limits, session
from dashboard.behaviour import diagnosis_inputs, diagnosis_parts, script_parts
from dashboard.data import data_use
from stethoscope.studies.diagnosis.report import Report
from stethoscope.studies.diagnosis.run import DIAGNOSIS
from stethoscope.studies.study import studies
from stethoscope.types import Architecture

PAGE = {"title": "Diagnosis", "section": "Behaviour", "url_path": "diagnosis", "icon": ""}


def ready(view: session.View, architecture: Architecture) -> None:
    """Inputs, the button, and the diagnosis this page shows."""
    assert view.entry is not None
    allowed = own_code.allowed(view, architecture)
    run_limits.runnable(architecture)
    with st.container(border=True):
        data = diagnosis_inputs.data(view, architecture)
        more, prove_cell, go = st.columns([2, 2, 1], vertical_alignment="bottom")
        with more.popover("Training and logs", width="stretch"):
            st.markdown("**How was it trained?**")
            fit = diagnosis_inputs.fit(view)
            st.markdown("**Training logs**")
            logs = diagnosis_inputs.logs(view)
        prove = prove_cell.toggle(
            "Try the fixes",
            value=data is not None,
            disabled=data is None,
            key=f"prove-{data is not None}",
            help="Trains a copy with and without each fix, three seeds each, for up to a minute",
        )
        now = st.session_state.pop("_run_now", False)
        if go.button("Diagnose", type="primary", width="stretch", key="diagnose") or now:
            diagnosis_inputs.begin(
                view, data=data, logs=logs, fit=fit if data is not None and allowed else None, prove=prove
            )
    study = panel.chosen(DIAGNOSIS, view, "diagnosis")
    if study is None and session.recalled("diagnosis"):
        session.remember("diagnosis", None)
        st.info("This diagnosis is not kept any more. Run it again.")
    elif study is None:
        st.caption(
            "Reads the architecture, the weights, your data and logs, runs the model on edge cases, trains a copy for a few "
            "seconds, and names the cause of what is wrong. Every check says what it looked at."
        )
    elif not study.done:
        panel.watch_study(DIAGNOSIS, study, view, diagnosis_parts.line)
        diagnosis_parts.so_far(study.report, architecture, study.id)
    else:
        report = script_parts.merged(study.report, session.script_in_view())
        diagnosis_parts.answer(report, architecture, study.id, _command(view.entry.name, report))
        diagnosis_parts.history(list(studies().kept(DIAGNOSIS, view.entry.id)), study.id)


def _command(name: str, report: Report) -> str:
    asked = report.request
    fit = asked.get("fit")
    options = {
        "data": asked.get("data"),
        **data_use.command_options(asked),
        "logs": asked.get("logs"),
        "script": asked.get("script"),
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
