"""Does the same input always give the same output?"""

from __future__ import annotations

from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import described, own_code, panel, recipes, render, run_limits, runs, session
from dashboard.behaviour import consistency_parts
from dashboard.data import data_choice, data_use
from stethoscope.codec import partial_of
from stethoscope.compare.consistency.report import ConsistencyReport
from stethoscope.types import Architecture

PAGE = {"title": "Consistency", "section": "Behaviour", "url_path": "consistency", "icon": ""}


def settings(fixed: int | None) -> tuple[dict[str, Any], DeltaGenerator]:
    """The few settings that matter in one row, the rest under More; and where the button goes."""
    row = st.grid(4, min_column_width=150, vertical_alignment="bottom")
    count, seed, more, go = (row.cell() for _ in range(4))
    params: dict[str, Any] = {
        "runs": count.number_input(
            "Runs", 2, 100, 5, key="runs", bind="query-params", help="How often the same input is run"
        ),
        "seed": seed.number_input(
            "Seed", 0, 2**31 - 1, 0, key="seed", bind="query-params", help="Makes the random input repeatable"
        ),
    }
    with more.popover("More", width="stretch"):
        if fixed is None:
            params["batch_size"] = st.number_input(
                "Batch size",
                1,
                1024,
                8,
                key="rows",
                bind="query-params",
                help="Rows in one run. A row is also run alone, and has to give the same.",
            )
        else:
            params["batch_size"] = st.number_input("Batch size", value=fixed, key="rows-fixed", disabled=True)
        params["atol"] = st.number_input(
            "Absolute tolerance",
            0.0,
            1.0,
            1e-5,
            step=1e-6,
            format="%.0e",
            key="atol",
            bind="query-params",
            help="Differences up to this are rounding, not a defect",
        )
    return params, go


def ready(view: session.View, architecture: Architecture) -> None:
    """Settings, button, and the answer of the run this page shows."""
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
        params, go = settings(fixed)
        run_limits.say_fixed_batch(fixed)
        with go:
            panel.button(
                "Run the test",
                lambda: runs.consistency(entry, architecture, params, data),
                view,
                disabled=not (allowed and complete),
            )
    state = panel.state(
        "consistency",
        view,
        "The same input goes through the model several times: again as it is, one row alone, among "
        "others and shuffled, after saving and loading, and in training mode. Then zeros, huge numbers, NaN and other inputs at "
        "the edge. A difference is traced to the first layer that causes it.",
    )
    if state is None:
        return
    report = None if state.result is None else partial_of(state.result, ConsistencyReport)
    source = None if report is None else report.settings.input
    options = {
        "data": source if source != "dummy" else None,
        "runs": state.params.get("runs"),
        "seed": state.params.get("seed"),
        "batch-size": state.params.get("batch_size"),
        **data_use.command_options(state.params),
    }
    consistency_parts.answer(state, recipes.command_line("consistency", entry.name, options))


def page() -> None:
    """The question, then whatever can be said about it."""
    view = session.current()
    render.question("Does the same input always give the same output?")
    architecture = described.architecture(view)
    if architecture is not None:
        ready(view, architecture)


page()
