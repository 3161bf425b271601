"""The two trials about devices: train here and predict there, and one device against several."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dashboard import panel, render, runs
from dashboard.behaviour import diagnosis_inputs
from dashboard.cost import placement_parts
from dashboard.session import View
from stethoscope.studies.diagnosis.stages import trainable
from stethoscope.types import Architecture, Job


def page(view: View, architecture: Architecture, *, several: bool, allowed: bool) -> None:
    """The form, the button, and the answer of the last trial."""
    assert view.entry is not None
    entry = view.entry
    if not trainable(architecture):
        render.empty("Only Keras models (.keras, .h5) can be trained; this format holds a finished computation.")
        return
    kind = "replicas" if several else "placement"
    if not several:
        placement_parts.tied(architecture)
    with st.container(border=True):
        data = diagnosis_inputs.data(view, architecture)
        params: dict[str, Any] = {"fit": runs.sample_fit(entry)}
        row = st.grid(4, min_column_width=150, vertical_alignment="bottom")
        if several:
            params["devices"] = row.cell().number_input("Devices", 2, 8, 2, key="replicas", bind="query-params")
            params["batch"] = row.cell().selectbox(
                "Batch",
                ["same", "per replica"],
                key="replica-batch",
                bind="query-params",
                help="same: divided among the devices; per replica: each keeps it, as many programs do by mistake",
            )

        def job() -> Job:
            return runs.trial(kind, entry, architecture, params, data)

        with row.cell():
            panel.button("Try it", job, view, disabled=not allowed)
    state = panel.state(
        kind,
        view,
        "Copies are trained from the same weights on the same rows, on one device and on several; the two loss curves are "
        "compared, and what makes them differ is taken away piece by piece."
        if several
        else "A copy is trained for a few steps on one device and asked to predict on another, as when a model trained on a GPU "
        "is used on a CPU. Where XLA ties it to the device, three remedies are tried. Two logical CPU devices stand in for them.",
    )
    if state is not None:
        (placement_parts.replicas if several else placement_parts.clash)(state)
