"""The question of the Memory page about training: batch sizes, data, and whether to try what lowers the peak."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dashboard import panel, render, run_limits, runs, session
from dashboard.cost import fit_memory_parts
from dashboard.cost.numbers import numbers
from dashboard.data import data_choice
from stethoscope.memory.fit_changes import CHANGE_KINDS
from stethoscope.studies.diagnosis.stages import trainable
from stethoscope.types import Architecture, Job


def training(view: session.View, architecture: Architecture, *, allowed: bool) -> None:
    """Peak and time of `fit` over batch sizes, what changes them, and `predict` beside it."""
    assert view.entry is not None
    entry = view.entry
    if not trainable(architecture):
        render.empty("Only Keras models (.keras, .h5) can be trained; this format holds a finished computation.")
        return
    fixed = run_limits.fixed_batch(architecture)
    with st.container(border=True):
        data, complete = data_choice.choose(
            view, architecture, none="Random data", key="fit-input", label="Data", in_address=True
        )
        row = st.grid(4, min_column_width=150, vertical_alignment="bottom")
        with row.cell():
            text = st.text_input(
                "Batch sizes", "1, 8, 32", key="fit-sizes", bind="query-params", disabled=fixed is not None
            )
        with row.cell():
            limit = run_limits.memory_limit()
        with row.cell():
            advise = st.toggle(
                "Try what lowers it",
                value=True,
                key="fit-advise",
                bind="query-params",
                help="Checkpointing, mixed precision, smaller optimizers and added-up gradients, each really trained.",
            )
        go = row.cell()
    sizes = numbers(text)
    if not sizes:
        st.warning("Batch sizes: expected whole numbers with commas between them, for example 1, 8, 64.")
        return
    params: dict[str, Any] = {"batch_sizes": sizes, "changes": list(CHANGE_KINDS) if advise else []}

    def job() -> Job:
        return runs.sweep_training(entry, architecture, params, limit, data)

    with go:
        panel.button("Train", job, view, disabled=not (allowed and complete))
    state = panel.state(
        "sweep_training",
        view,
        "Each batch is trained on by model.fit in a process of its own, as in yours, and so is each change: forward, backward and "
        "optimizer, three batches each. The weights of the file stay as they are.",
    )
    if state is not None:
        fit_memory_parts.answer(state, entry.name)
