"""What does it predict, how fast, and in how much memory?"""

from __future__ import annotations

from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import described, open_size, own_code, panel, recipes, render, run_limits, runs, session
from dashboard.behaviour import prediction_parts
from dashboard.data import data_choice
from stethoscope.architecture.open_sizes import open_axes
from stethoscope.types import Architecture, Job

PAGE = {"title": "Prediction", "section": "Behaviour", "url_path": "prediction", "icon": ""}


def settings(
    architecture: Architecture, fixed: int | None, *, own_data: bool
) -> tuple[dict[str, Any], int, DeltaGenerator]:
    """The run's parameters, its memory limit in bytes, and where the button goes."""
    is_open = bool(open_axes(architecture.inputs))
    row = st.grid(5 + is_open, min_column_width=150, vertical_alignment="bottom")
    samples, batch = row.cell(), row.cell()
    size = open_size.field(row.cell(), architecture, disabled=own_data) if is_open else None
    limit, more, go = (row.cell() for _ in range(3))
    params: dict[str, Any] = {
        "samples": samples.number_input(
            "Samples",
            1,
            100_000,
            32,
            key="samples",
            bind="query-params",
            disabled=own_data,
            help="Rows of random input; data of your own is used whole",
        ),
        "batch_size": batch.number_input(
            "Batch size", 1, 100_000, 32, key="batch", bind="query-params", help="Rows in one call"
        )
        if fixed is None
        else batch.number_input("Batch size", value=fixed, key="batch-fixed", disabled=True),
    }
    params |= {} if size is None else {"size": size}
    with limit:
        limit_bytes = run_limits.memory_limit()
    with more.popover("More", width="stretch"):
        params["seed"] = st.number_input(
            "Seed", 0, 2**31 - 1, 0, key="seed", bind="query-params", help="Makes random input repeatable"
        )
    return params, limit_bytes, go


def ready(view: session.View, architecture: Architecture) -> None:
    """Input, settings, button, and the answer of the run this page shows."""
    assert view.entry is not None
    entry = view.entry
    allowed = own_code.allowed(view, architecture)
    if not run_limits.runnable(architecture):
        return
    with st.container(border=True):
        data, complete = data_choice.choose(
            view, architecture, none="Random input", key="input", label="Input", in_address=True
        )
        fixed = run_limits.fixed_batch(architecture)
        params, limit, go = settings(architecture, fixed, own_data=data is not None)
        run_limits.say_fixed_batch(fixed)

        def job() -> Job:
            return runs.predict(entry, architecture, params, limit, data)

        if st.session_state.pop("_run_now", False) and allowed and complete:
            panel.begin(job(), view)
        with go:
            panel.button("Predict", job, view, disabled=not (allowed and complete))
    state = panel.state(
        "predict",
        view,
        "The model runs in a process of its own under the memory limit. If it needs more, you get a report of where and why, "
        "and nothing else is disturbed.",
    )
    if state is not None:
        prediction_parts.answer(state, *recipes.of_run(entry.name, architecture, state, limit))


def page() -> None:
    """The question, then whatever can be said about it."""
    view = session.current()
    render.question("What does it predict, how fast, and in how much memory?")
    architecture = described.architecture(view)
    if architecture is not None:
        ready(view, architecture)


page()
