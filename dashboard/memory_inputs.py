"""The three questions of the Memory page: how memory grows with the batch, what lowers it, and whether it stays there."""

from __future__ import annotations

import streamlit as st

from dashboard import endurance_parts, lowering_inputs, recipes, run_panel, runs, session, sweep_parts
from stethoscope.memory.call_styles import TITLES
from stethoscope.memory.run_settings import CALLS, RunSettings
from stethoscope.types import Architecture, Job

MIB = 1 << 20


def growth(view: session.View, architecture: Architecture, limit: int, *, allowed: bool) -> None:
    """Peak and time over batch sizes."""
    assert view.entry is not None
    entry = view.entry
    row = st.grid(3, min_column_width=150, vertical_alignment="bottom")
    text = row.cell().text_input("Batch sizes", "1, 8, 32, 64", key="sizes", bind="query-params")
    call = row.cell().selectbox(
        "Call style", CALLS, index=CALLS.index("function"), format_func=TITLES.__getitem__, key="sweep-call"
    )
    sizes = [int(part) for part in text.replace(" ", "").split(",") if part.isdigit() and int(part)]
    if not sizes:
        st.warning("Batch sizes: expected numbers with commas between them, for example 1, 8, 64.")
        return

    def job() -> Job:
        params = {"settings": RunSettings(batch_size=max(sizes), call=call).to_json(), "batch_sizes": sizes}
        return runs.sweep(entry, architecture, params, limit)

    with row.cell():
        run_panel.button("Sweep", job, view, disabled=not allowed)
    state = run_panel.state("sweep", view)
    if state is not None:
        options = {"batch-sizes": ",".join(map(str, sizes)), "call": call, "memory-limit": f"{limit // MIB}MiB"}
        sweep_parts.answer(state, limit, recipes.command_line("sweep", entry.name, options))
    elif not run_panel.busy("sweep", view):
        st.caption(
            "Small batches are measured, the peak of each larger one is predicted, then it is run and measured. What cannot fit "
            "the limit is not started."
        )


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
