"""The settings of a conversion: those that count for the chosen target in one row, the rest under More."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import run_limits
from dashboard.deployment import convert_targets
from stethoscope.compare.convert.converter import DEFAULT_OPSET, OPSETS, Options
from stethoscope.settings import settings
from stethoscope.types import Architecture

_PLAIN = Options()
_TOGGLES: Mapping[str, tuple[str, str]] = {
    "integer_ends": ("Integer inputs and outputs", "For accelerators that have no floats at all"),
    "allow_float": ("Allow float operators", "Tells the converter that they are welcome; it seldom changes the file"),
}


@dataclass(frozen=True)
class Chosen:
    """The settings, and where the buttons go."""

    params: dict[str, Any]
    """"options", "rows" and "seed" of the task."""
    memory_bytes: int
    time_s: float
    one: DeltaGenerator
    every: DeltaGenerator


def draw(target: str, architecture: Architecture) -> Chosen:
    """Draws the row; returns what is chosen."""
    counts = convert_targets.options_of(target, architecture)
    fixed = run_limits.fixed_batch(architecture)
    row = st.grid(4, min_column_width=150, vertical_alignment="bottom")
    options: dict[str, Any] = {}
    if "opset" in counts:
        options["opset"] = row.cell().selectbox(
            "Opset",
            OPSETS,
            OPSETS.index(DEFAULT_OPSET),
            key="opset",
            bind="query-params",
            help="The version of ONNX's operators. Older runtimes need a lower one.",
        )
    if "calibration_rows" in counts:
        options["calibration_rows"] = row.cell().number_input(
            "Rows for the ranges",
            1,
            100_000,
            _PLAIN.calibration_rows,
            key="calibration",
            bind="query-params",
            help="Rows of the input by which the ranges of the integers are found",
        )
    if "batch_size" in counts:
        options["batch_size"] = _rows_per_call(row.cell(), fixed)
    with row.cell():
        limit = run_limits.memory_limit("A conversion")
    with row.cell(), st.popover("More", width="stretch"):
        params, time_s = _more()
    toggles = [(name, *said) for name, said in _TOGGLES.items() if name in counts]
    if toggles:
        with st.container(horizontal=True):
            for name, label, about in toggles:
                options[name] = st.toggle(label, key=name.replace("_", "-"), bind="query-params", help=about)
    run_limits.say_fixed_batch(fixed)
    actions = st.grid(4, min_column_width=150, vertical_alignment="bottom")
    one, every = actions.cell(), actions.cell()
    return Chosen({**params, "options": options}, limit, time_s, one, every)


def _rows_per_call(cell: DeltaGenerator, fixed: int | None) -> int | None:
    label = "Rows in every call"
    if fixed is not None:
        cell.number_input(label, value=fixed, key="per-call-fixed", disabled=True)
        return None
    chosen = cell.number_input(
        label,
        1,
        100_000,
        None,
        key="per-call",
        bind="query-params",
        placeholder="any number",
        help="A fixed number lets some runtimes and accelerators compile more of the model",
    )
    return int(chosen) if chosen else None


def _more() -> tuple[dict[str, Any], float]:
    most = int(settings().job_timeout_s)
    rows = st.number_input(
        "Rows to compare",
        1,
        10_000,
        None,
        key="compare-rows",
        bind="query-params",
        placeholder="up to 8",
        help="The source and what was made of it answer the same rows; fewer where they take long",
    )
    seed = st.number_input(
        "Seed", 0, 2**31 - 1, 0, key="seed", bind="query-params", help="Makes random input repeatable"
    )
    time_s = st.number_input(
        "Time limit (s)",
        min(10, most),
        most,
        most,
        key="time",
        bind="query-params",
        help="A conversion that takes longer is stopped",
    )
    return {"rows": None if rows is None else int(rows), "seed": int(seed)}, float(time_s)
