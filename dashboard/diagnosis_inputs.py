"""What a diagnosis may use: data, logs, and how the model was trained."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dashboard import escape, kept_upload, runs, session
from dashboard.session import View
from stethoscope.diagnosis.request import Request
from stethoscope.errors import StethoscopeError
from stethoscope.evidence.fit import FitSettings
from stethoscope.settings import settings
from stethoscope.types import Architecture, ModelFile

NONE, SAMPLE, OWN = "No data", "Sample data", "Your data"
_LOSSES = (
    "sparse_categorical_crossentropy", "categorical_crossentropy", "binary_crossentropy",
    "mean_squared_error", "mean_absolute_error", "huber",
)  # fmt: skip
_FLAGS = ("true", "false")
_OPTIMIZERS = ("adam", "sgd", "rmsprop", "adamw", "nadam", "adagrad")


def request(
    view: View, *, data: ModelFile | None, logs: ModelFile | None, fit: FitSettings | None, prove: bool
) -> Request:
    """The request behind the page's settings."""
    assert view.entry is not None
    entry = view.entry
    return Request(
        model=entry.file,
        data=data,
        logs=logs,
        fit=fit,
        prove=prove and data is not None,
        trusted=entry.trusted,
        memory_bytes=int(settings().job_memory_bytes) // 2,
        owner=view.owner,
        entry_id=entry.id,
    )


def data(view: View, architecture: Architecture) -> ModelFile | None:
    """Draws the choice of data; returns the file, or None without one."""
    assert view.entry is not None
    sample = runs.sample_data(view.entry)
    options = [NONE, *([SAMPLE] if sample else []), OWN]
    default = OWN if session.recalled("data") else SAMPLE if sample else NONE
    picked = st.segmented_control("Data", options, default=default, key="diagnosis-data", required=True)
    if picked == SAMPLE and sample is not None:
        st.caption(f"{escape.code(sample.name)} comes with this sample model.")
        return sample
    if picked == OWN:
        names = ", ".join(escape.code(spec.name) for spec in architecture.inputs[:4])
        hint = f"A .npz with x and y, or one array per input ({names}) and output by name."
        return _uploaded(view, "data", "Drop your data here", hint, ".npz or .npy. It stays on this server.")
    st.caption("With data and labels a copy of the model can be trained for a few seconds, and fixes can be tried.")
    return None


def logs(view: View) -> ModelFile | None:
    """Draws the choice of training logs; returns the file or None."""
    hint = "TensorBoard event files (a folder, or as tar or zip), a CSV of Keras' CSVLogger, or history as JSON."
    return _uploaded(
        view, "logs", "Drop training logs here", hint, "Event files, .csv, .json. They stay on this server."
    )


def _uploaded(view: View, role: str, title: str, lead: str, hint: str) -> ModelFile | None:
    logs = role == "logs"
    entry = kept_upload.chosen(
        role, view.owner, key=f"{role}-upload", title=title, hint=hint, lead=lead, folders=logs, as_logs=logs
    )
    return None if entry is None else entry.file


def fit(view: View) -> FitSettings:
    """The form for how the model was trained; what is left empty is as the file says, or Keras' default."""
    assert view.entry is not None
    st.caption("Leave empty what the file already says or what you did not set.")
    # Keyed by the model: what was said of one is not true of another.
    given, key = runs.sample_fit(view.entry), f"fit-{view.entry.id}"
    values: dict[str, Any] = {}
    first = st.grid(4, min_column_width=140, vertical_alignment="bottom")
    with first.cell():
        values["epochs"] = st.number_input(
            "Epochs", 1, 1_000_000, given.get("epochs"), key=f"{key}-epochs", placeholder="not said"
        )
    with first.cell():
        values["batch_size"] = st.number_input(
            "Batch size", 1, 1_000_000, given.get("batch_size"), key=f"{key}-batch", placeholder="32"
        )
    with first.cell():
        values["validation_split"] = st.number_input(
            "Validation split", 0.0, 0.95, given.get("validation_split"), step=0.05, key=f"{key}-split", placeholder="0",
            help="The share of rows that fit() held out, from the end of the data",
        )  # fmt: skip
    with first.cell():
        values["shuffle"] = st.selectbox("Shuffle", _FLAGS, index=None, key=f"{key}-shuffle", placeholder="true")
    second = st.grid(4, min_column_width=140, vertical_alignment="bottom")
    for name, label, choices in (
        ("loss", "Loss", _LOSSES),
        ("from_logits", "from_logits", _FLAGS),
        ("optimizer", "Optimizer", _OPTIMIZERS),
    ):
        with second.cell():
            values[name] = st.selectbox(
                label, choices, index=None, key=f"{key}-{name}", placeholder="as in the file",
                accept_new_options=name == "loss",
            )  # fmt: skip
    with second.cell():
        values["learning_rate"] = st.number_input(
            "Learning rate", 0.0, 1000.0, None, format="%g", key=f"{key}-rate", placeholder="as in the file"
        )
    try:
        return FitSettings.from_mapping(values)
    except StethoscopeError as error:
        st.warning(escape.sentences(error))
        return FitSettings()
