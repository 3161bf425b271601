"""How much memory does it need, what would lower it, and does it stay there?"""

from __future__ import annotations

import streamlit as st

from dashboard import (
    cards,
    described,
    endurance_parts,
    lowering_inputs,
    recipes,
    render,
    run_panel,
    runs,
    session,
)
from stethoscope.memory.call_styles import TITLES
from stethoscope.memory.run_settings import CALLS, RunSettings
from stethoscope.settings import settings as configured
from stethoscope.types import Architecture, Job

VIEWS = ("What lowers it", "Repeated calls")
PAGE = {"title": "Memory", "section": "Cost", "url_path": "memory", "icon": ""}
MIB = 1 << 20


def lowering(view: session.View, batch: int, limit: int, *, allowed: bool) -> None:
    """Other settings, each tried and ranked by what it measured."""
    lowering_inputs.button(view, batch, limit, disabled=not allowed)
    if not lowering_inputs.shown(view):
        st.caption(
            "Tries other call styles, batches, precisions, XLA and shorter inputs, each in a process of its own, and ranks them by "
            "the peak they had. Where the outputs change, it says by how much."
        )


def repeated(view: session.View, architecture: Architecture, batch: int, limit: int, *, allowed: bool) -> None:
    """Leaks, retracing, and the first call against later ones."""
    assert view.entry is not None
    entry = view.entry
    row = st.grid(3, min_column_width=150, vertical_alignment="bottom")
    call = row.cell().selectbox(
        "Call style", CALLS, index=CALLS.index("function"), format_func=lambda name: TITLES[name], key="call"
    )
    calls = row.cell().number_input("Calls", 20, 10_000, 100, key="calls", bind="query-params")

    def job() -> Job:
        params = {"settings": RunSettings(batch_size=batch, call=call).to_json(), "calls": int(calls)}
        return runs.endurance(entry, architecture, params, limit)

    with row.cell():
        run_panel.button("Call it again and again", job, view, disabled=not allowed)
    state = run_panel.state("endurance", view)
    if state is not None:
        endurance_parts.answer(
            state, recipes.command_line("endurance", entry.name, {"call": call, "calls": int(calls)})
        )
    elif not run_panel.busy("endurance", view):
        st.caption("Many equal calls show a leak; calls with many shapes show how often the function is traced anew.")


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
        batch = int(row.cell().number_input("Batch size", 1, 100_000, 32, key="batch", bind="query-params"))
        limit = int(
            row.cell().number_input("Memory limit (MiB)", 16, most, most, step=64, key="limit", bind="query-params")
        )
    if asked == VIEWS[1]:
        repeated(view, architecture, batch, limit * MIB, allowed=allowed)
    else:
        lowering(view, batch, limit * MIB, allowed=allowed)


def page() -> None:
    """The question, then whatever can be said about it."""
    view = session.current()
    render.question("How much memory does it need, what would lower it, and does it stay there?")
    architecture = described.architecture(view)
    if architecture is not None:
        ready(view, architecture)


page()
