"""How much memory does it need, what would lower it, and does it stay there?"""

from __future__ import annotations

import streamlit as st

from dashboard import cards, described, memory_inputs, render, run_panel, session
from stethoscope.settings import settings as configured
from stethoscope.types import Architecture

VIEWS = ("How it grows", "What lowers it", "Repeated calls")
PAGE = {"title": "Memory", "section": "Cost", "url_path": "memory", "icon": ""}
MIB = 1 << 20


def ready(view: session.View, architecture: Architecture) -> None:
    """What all questions share, then the chosen one."""
    assert view.entry is not None
    allowed = cards.hazards(view, architecture.hazards)
    if not run_panel.runnable(architecture.runnable):
        return
    most = int(configured().job_memory_bytes) // MIB
    asked = st.segmented_control(
        "Question",
        VIEWS,
        default=VIEWS[0],
        key="question",
        bind="query-params",
        required=True,
        label_visibility="collapsed",
    )
    with st.container(border=True):
        row = st.grid(3, min_column_width=150, vertical_alignment="bottom")
        batch = 32
        if asked != VIEWS[0]:
            batch = int(row.cell().number_input("Batch size", 1, 100_000, 32, key="batch", bind="query-params"))
        limit = int(
            row.cell().number_input("Memory limit (MiB)", 16, most, most, step=64, key="limit", bind="query-params")
        )
    if asked == VIEWS[0]:
        memory_inputs.growth(view, architecture, limit * MIB, allowed=allowed)
    elif asked == VIEWS[2]:
        memory_inputs.repeated(view, architecture, batch, limit * MIB, allowed=allowed)
    else:
        memory_inputs.lowering(view, batch, limit * MIB, allowed=allowed)


def page() -> None:
    """The question, then whatever can be said about it."""
    view = session.current()
    render.question("How much memory does it need, what would lower it, and does it stay there?")
    architecture = described.architecture(view)
    if architecture is not None:
        ready(view, architecture)


page()
