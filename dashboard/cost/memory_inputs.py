"""The questions of the Memory page: how memory grows with the batch, what lowers it, and whether it stays there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import linked, open_size, panel, run_limits, runs, session
from dashboard.cost import endurance_parts, estimate_parts, lowering_inputs, sweep_parts
from dashboard.cost.numbers import numbers
from dashboard.run_limits import memory_limit
from stethoscope.architecture.open_sizes import open_axes
from stethoscope.memory.call_styles import TITLES, usual_call
from stethoscope.memory.run_settings import RunSettings
from stethoscope.models.formats import format_of
from stethoscope.types import Architecture, Job


def batch_size() -> int:
    """The field for the batch."""
    return int(st.number_input("Batch size", 1, 100_000, 32, key="batch", bind="query-params"))


def call_style(architecture: Architecture, row: Any) -> str:
    """The field for how the model is called, in the next cell of `row`; files that are not Keras models have one way."""
    kind = format_of(architecture)
    if not kind.live:
        return usual_call(kind)
    with row.cell():
        return linked.select("Called as", TITLES, usual_call(kind), "call")


@dataclass(frozen=True)
class _Asked:
    """What to estimate or sweep, and the cell for the button."""

    batch_sizes: list[int]
    open_sizes: list[int]
    call: str
    limit: int
    check: bool
    go: DeltaGenerator


def _over_sizes(architecture: Architecture, *, runs_it: bool) -> _Asked | None:
    """The form over batch sizes and open sizes; None after saying what is wrong with them."""
    fixed = run_limits.fixed_batch(architecture)
    open_ended, keras = has_open_sizes(architecture), format_of(architecture).live
    cells = 2 + open_ended + keras + 2 * runs_it
    limit, check, sizes_text = 0, False, ""
    with st.container(border=True):
        row = st.grid(3 if cells == 6 else cells, min_column_width=150, vertical_alignment="bottom")
        with row.cell():
            text = st.text_input(
                "Batch sizes", "1, 8, 32, 64", key="sizes", bind="query-params", disabled=fixed is not None
            )
        if open_ended:
            with row.cell():
                sizes_text = st.text_input(
                    "Lengths or image sizes",
                    key="open-sizes",
                    bind="query-params",
                    placeholder=f"{open_size.usual(architecture)[0]}, or several",
                    help="This model leaves dimensions besides the batch open: each size given is taken. Nothing given: "
                    + open_size.unsaid(architecture),
                )
        call = call_style(architecture, row)
        if runs_it:
            with row.cell():
                limit = memory_limit()
            with row.cell():
                check = st.toggle(
                    "Check the largest batch",
                    key="check",
                    bind="query-params",
                    disabled=fixed is not None,
                    help="Also runs just below and just above the largest batch that is said to fit. It may take a while.",
                )
        go = row.cell()
    run_limits.say_fixed_batch(fixed)
    sizes, open_sizes = numbers(text), numbers(sizes_text)
    if not sizes or open_sizes is None:
        wrong = "Batch sizes" if not sizes else "Lengths or image sizes"
        st.warning(f"{wrong}: expected whole numbers with commas between them, for example 1, 8, 64.")
        return None
    return _Asked(sizes, open_sizes, call, limit, check, go)


def before(view: session.View, architecture: Architecture, *, allowed: bool) -> None:
    """The peak without running the model."""
    asked = _over_sizes(architecture, runs_it=False)
    if asked is not None:
        estimate_parts.section(
            view, architecture, asked.batch_sizes, asked.open_sizes, asked.call, allowed=allowed, go=asked.go
        )


def growth(view: session.View, architecture: Architecture, *, allowed: bool) -> None:
    """Peak and time over batch sizes, and over sizes of what the model leaves open."""
    assert view.entry is not None
    entry = view.entry
    asked = _over_sizes(architecture, runs_it=True)
    if asked is None:
        return

    def job() -> Job:
        params: dict[str, Any] = {
            "settings": RunSettings(batch_size=max(asked.batch_sizes), call=asked.call, allocator="pool").to_json(),
            "batch_sizes": asked.batch_sizes,
            "sizes": asked.open_sizes,
            "check": asked.check,
        }
        return runs.sweep(entry, architecture, params, asked.limit)

    with asked.go:
        panel.button("Sweep", job, view, disabled=not allowed)
    state = panel.state(
        "sweep",
        view,
        "Each batch runs in a process of its own, as in yours: its peak is predicted from those before it, then measured. "
        "What cannot fit the limit is not started, and the largest batch that is said to fit has run.",
    )
    if state is not None:
        sweep_parts.answer(state, entry.name)


def has_open_sizes(architecture: Architecture) -> bool:
    """Whether the model leaves dimensions besides the batch open."""
    return bool(open_axes(architecture.inputs))


def lowering(view: session.View, *, allowed: bool) -> None:
    """Other settings, each tried and ranked by what it measured."""
    with st.container(border=True):
        row = st.grid(3, min_column_width=150, vertical_alignment="bottom")
        with row.cell():
            batch = batch_size()
        with row.cell():
            limit = memory_limit()
        with row.cell():
            lowering_inputs.button(view, batch, limit, disabled=not allowed)
    if not lowering_inputs.shown(view):
        st.caption(
            "Tries other call styles, batches, precisions, XLA and shorter inputs, each in a process of its own, and ranks them by "
            "the peak they had. Where the outputs change, it says by how much."
        )


def repeated(view: session.View, architecture: Architecture, *, allowed: bool) -> None:
    """Leaks, retracing, and the first call against later ones."""
    assert view.entry is not None
    entry = view.entry
    with st.container(border=True):
        row = st.grid(5, min_column_width=150, vertical_alignment="bottom")
        with row.cell():
            batch = batch_size()
        call = call_style(architecture, row)
        with row.cell():
            calls = int(st.number_input("Calls", 20, 10_000, 100, key="calls", bind="query-params"))
        with row.cell():
            limit = memory_limit()
        go = row.cell()

    def job() -> Job:
        params = {"settings": RunSettings(batch_size=batch, call=call).to_json(), "calls": calls}
        return runs.endurance(entry, architecture, params, limit)

    with go:
        panel.button("Call it again and again", job, view, disabled=not allowed)
    state = panel.state(
        "endurance",
        view,
        "Many equal calls show whether memory grows with each of them; calls with many shapes, how often TensorFlow builds "
        "the function anew; and the first call is timed against the later ones.",
    )
    if state is not None:
        endurance_parts.answer(state, entry.name)
