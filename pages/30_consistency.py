"""Does the same input always give the same output?"""

from __future__ import annotations

from typing import Any

import streamlit as st

from dashboard import cards, consistency_parts, described, recipes, render, run_panel, runs, session
from stethoscope.types import Architecture

PAGE = {"title": "Consistency", "section": "Behaviour", "url_path": "consistency", "icon": ""}


def settings() -> dict[str, Any]:
    """The few settings that matter in one row, the rest under More."""
    row = st.grid(3, min_column_width=150, vertical_alignment="bottom")
    count, seed, more = (row.cell() for _ in range(3))
    params: dict[str, Any] = {
        "runs": count.number_input(
            "Runs", 2, 100, 5, key="runs", bind="query-params", help="How often the same input is run"
        ),
        "seed": seed.number_input(
            "Seed", 0, 2**31 - 1, 0, key="seed", bind="query-params", help="Makes the random input repeatable"
        ),
    }
    with more.popover("More", width="stretch"):
        params["batch_size"] = st.number_input(
            "Batch size",
            1,
            1024,
            8,
            key="rows",
            bind="query-params",
            help="Rows in one run; also the N of batch 1 against N",
        )
        params["atol"] = st.number_input(
            "Absolute tolerance", 0.0, 1.0, 1e-5, step=1e-6, format="%.0e", key="atol", bind="query-params",
            help="Differences up to this are rounding, not a defect",
        )  # fmt: skip
    return params


def ready(view: session.View, architecture: Architecture) -> None:
    """Settings, button, and the answer of the run this page shows."""
    assert view.entry is not None
    entry = view.entry
    allowed = cards.hazards(view, architecture.hazards)
    if not run_panel.runnable(architecture.runnable):
        return
    with st.container(border=True):
        params = settings()
        run_panel.button(
            "Run the test", lambda: runs.consistency(entry, architecture, params), view, disabled=not allowed
        )
    state = run_panel.state("consistency", view)
    if state is None:
        if not run_panel.busy("consistency", view):
            st.caption(
                "Random input is made from the input shapes and run several times: repeated, one row against many, and in training "
                "against inference mode. Any difference is traced to the first layer that causes it."
            )
        return
    options = {
        "runs": state.params.get("runs"),
        "seed": state.params.get("seed"),
        "batch-size": state.params.get("batch_size"),
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
