"""Can it learn a few samples by heart?"""

from __future__ import annotations

import streamlit as st

from dashboard import described, own_code, panel, recipes, render, run_limits, runs, session
from dashboard.behaviour import diagnosis_inputs, overfit_parts
from dashboard.data import data_use
from stethoscope.studies.diagnosis.stages import trainable
from stethoscope.types import Architecture

PAGE = {"title": "Overfit test", "section": "Behaviour", "url_path": "overfit", "icon": ""}


def ready(view: session.View, architecture: Architecture) -> None:
    """Inputs, the button, and the test this page shows."""
    assert view.entry is not None
    entry = view.entry
    allowed = own_code.allowed(view, architecture)
    if not run_limits.runnable(architecture):
        return
    if not trainable(architecture):
        render.empty("Only Keras models (.keras, .h5) can be trained; this format holds a finished computation.")
        return
    with st.container(border=True):
        data = diagnosis_inputs.data(view, architecture)
        count, more, go = st.columns([3, 3, 2], vertical_alignment="bottom")
        samples = count.number_input(
            "Samples", 1, 256, 16, key="samples", bind="query-params", help="How many rows it has to learn"
        )
        with more.popover("How was it trained?", width="stretch"):
            fit = diagnosis_inputs.fit(view)
        params = {"samples": int(samples), "fit": fit.to_json(), "time_s": 20.0}
        with go:
            panel.button(
                "Run the test", lambda: runs.overfit(entry, architecture, params, data), view, disabled=not allowed
            )
    state = panel.state(
        "overfit",
        view,
        "A handful of samples is trained again and again, without dropout and other regularisation. A sound model learns them "
        "within seconds; one that cannot has something that blocks learning, and the layer is named.",
    )
    if state is not None:
        overfit_parts.answer(
            state,
            recipes.command_line(
                "check",
                entry.name,
                {"data": data.name if data else None, **data_use.command_options(state.params), "fit": "epochs=1"},
            ),
        )


def page() -> None:
    """The question, then whatever can be said about it."""
    view = session.current()
    render.question("Can it learn a few samples by heart?")
    architecture = described.architecture(view)
    if architecture is not None:
        ready(view, architecture)


page()
