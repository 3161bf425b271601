"""On which device, with which settings, and what does TensorFlow make of them?"""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from dashboard import described, own_code, panel, recipes, render, run_limits, runs, session, settings_form
from dashboard.behaviour import prediction_parts
from dashboard.cost import devices_parts, placement_inputs
from stethoscope.devices import this_machine
from stethoscope.memory.run_settings import RunSettings
from stethoscope.models.formats import format_of
from stethoscope.types import Architecture, Job

VIEWS = ("Run with settings", "Train here, predict there", "One device against several")
PAGE = {"title": "Devices", "section": "Cost", "url_path": "devices", "icon": ""}


def ready(view: session.View, architecture: Architecture) -> None:
    """The form, what speaks against the settings, a run under them, and their code."""
    assert view.entry is not None
    entry = view.entry
    allowed = own_code.allowed(view, architecture)
    if not run_limits.runnable(architecture):
        return
    chosen_view = st.segmented_control(
        "What", VIEWS, default=VIEWS[0], key="what", bind="query-params", required=True, label_visibility="collapsed"
    )
    if chosen_view != VIEWS[0]:
        placement_inputs.page(view, architecture, several=chosen_view == VIEWS[2], allowed=allowed)
        return
    tensorflow = format_of(architecture).runtime == "tensorflow"
    most_bytes = run_limits.most_bytes()
    with st.container(border=True):
        row = st.grid(3, min_column_width=150, vertical_alignment="bottom")
        batch = row.cell().number_input("Batch size", 1, 100_000, 32, key="batch", bind="query-params")
        with row.cell():
            limit_bytes = run_limits.memory_limit()
        go = row.cell()
        chosen = settings_form.draw(int(batch), architecture)
    if chosen is None:
        return
    machine = this_machine()
    hindering = settings_form.objections(
        chosen, machine, tensorflow=tensorflow, most_mebibytes=most_bytes // run_limits.MIB
    )

    def job() -> Job:
        params = {"samples": int(batch), "batch_size": int(batch), "seed": 0, "settings": chosen.to_json()}
        return runs.predict(entry, architecture, params, limit_bytes, None)

    runnable = not architecture.runnable and allowed and not hindering
    with go:
        panel.button("Run with these settings", job, view, disabled=not runnable)
    state = panel.state("predict", view)
    if state is not None:
        ran = RunSettings.from_json(state.params.get("settings") or {})
        st.caption(f"Ran with {settings_form.in_words(ran)}.")
        prediction_parts.answer(state, *recipes.of_run(entry.name, architecture, state, limit_bytes))
    if tensorflow:
        st.markdown("**These settings as code**")
        limited = replace(chosen, memory_limit_bytes=limit_bytes if limit_bytes < most_bytes else None)
        devices_parts.code(entry.name, architecture, limited, machine)


def page() -> None:
    """The machine first; the rest needs a model."""
    view = session.current()
    render.question("On which device, with which settings, and what does TensorFlow make of them?")
    devices_parts.machine_now(this_machine)
    devices_parts.who_has_the_card(this_machine())
    architecture = described.architecture(view)
    if architecture is not None:
        ready(view, architecture)


page()
