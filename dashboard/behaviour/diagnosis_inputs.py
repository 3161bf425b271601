"""What a diagnosis may use: data, logs, and how the model was trained."""

from __future__ import annotations

from typing import Any, NoReturn

import streamlit as st

from dashboard import escape, kept_upload, rerun, runs, session
from dashboard.data import data_choice
from dashboard.data.data_use import DataUse
from dashboard.session import View
from stethoscope.errors import StethoscopeError
from stethoscope.evidence.fit import FitSettings
from stethoscope.jobs import engine
from stethoscope.settings import settings
from stethoscope.studies.diagnosis import run
from stethoscope.studies.diagnosis.report import Request
from stethoscope.studies.study import studies
from stethoscope.types import Architecture, ModelFile

NONE = "No data"
_LOSSES = (
    "sparse_categorical_crossentropy",
    "categorical_crossentropy",
    "binary_crossentropy",
    "mean_squared_error",
    "mean_absolute_error",
    "huber",
)
_FLAGS = ("true", "false")
_OPTIMIZERS = ("adam", "sgd", "rmsprop", "adamw", "nadam", "adagrad")


def begin(
    view: View, *, data: DataUse | None, logs: ModelFile | None, fit: FitSettings | None, prove: bool
) -> NoReturn:
    """Starts the diagnosis behind the page's settings, puts it into the address, and draws the page anew."""
    assert view.entry is not None
    entry = view.entry
    asked = Request(
        model=entry.file,
        data=None if data is None else data.file,
        preparation=() if data is None else tuple(data.preparation.to_json()),
        data_options={} if data is None else data.options,
        logs=logs,
        fit=fit,
        prove=prove and data is not None,
        trusted=entry.trusted,
        memory_bytes=int(settings().job_memory_bytes) // 2,
        owner=view.owner,
        entry_id=entry.id,
    )
    session.remember("diagnosis", run.start(studies(), engine(), asked))
    rerun.whole_page()


def data(view: View, architecture: Architecture) -> DataUse | None:
    """Draws the choice of data; returns it, or None without any."""
    lead = "With data and labels a copy of the model can be trained for a few seconds, and fixes can be tried."
    return data_choice.choose(view, architecture, none=NONE, key="diagnosis-data", lead=lead, prefer_sample=True)[0]


def logs(view: View) -> ModelFile | None:
    """Draws the choice of training logs; returns the file or None."""
    hint = "TensorBoard event files (a folder, or as tar or zip), a CSV of Keras' CSVLogger, or history as JSON."
    entry = kept_upload.chosen(
        "logs",
        view.owner,
        key="logs-upload",
        title="Drop training logs here",
        lead=hint,
        hint="Event files, .csv, .json. They stay on this server.",
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
            "Validation split",
            0.0,
            0.95,
            given.get("validation_split"),
            step=0.05,
            key=f"{key}-split",
            placeholder="0",
            help="The share of rows that fit() held out, from the end of the data",
        )
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
                label,
                choices,
                index=None,
                key=f"{key}-{name}",
                placeholder="as in the file",
                accept_new_options=name == "loss",
            )
    with second.cell():
        values["learning_rate"] = st.number_input(
            "Learning rate", 0.0, 1000.0, None, format="%g", key=f"{key}-rate", placeholder="as in the file"
        )
    try:
        return FitSettings.from_mapping(values)
    except StethoscopeError as error:
        st.warning(escape.sentences(error))
        return FitSettings()
