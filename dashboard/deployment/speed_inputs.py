"""How models are to be timed: the few settings that matter in one row, the rest under More."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import linked
from dashboard.cost.numbers import numbers
from stethoscope.memory.call_styles import TITLES
from stethoscope.models.formats import format_of
from stethoscope.types import Architecture

BATCH_SIZES, SECONDS = "1, 8, 32", 2.0


def settings(models: Iterable[Architecture]) -> tuple[dict[str, Any] | None, DeltaGenerator]:
    """Draws them; returns the job's params (None after saying what is wrong with them) and where the button goes.

    Args:
        models: those that are timed.
    """
    row = st.grid(4, min_column_width=140, vertical_alignment="bottom")
    sizes, threads, more, go = (row.cell() for _ in range(4))
    text = sizes.text_input(
        "Batch sizes",
        BATCH_SIZES,
        key="speed-sizes",
        bind="query-params",
        help="Rows in a call; each is timed by itself",
    )
    number = threads.number_input(
        "Threads",
        1,
        1_024,
        None,
        key="speed-threads",
        bind="query-params",
        placeholder="automatic",
        help="The same number for every runtime, within one operation; each has its own if empty. The answer says how many.",
    )
    keras = any(format_of(one).live for one in models)
    with more.popover("More", width="stretch"):
        seconds = st.number_input(
            "Seconds for each number",
            0.1,
            600.0,
            SECONDS,
            0.5,
            key="speed-seconds",
            bind="query-params",
            help="Calls are counted for so long; p99 needs at least 100 of them",
        )
        calls = (
            linked.several(
                "Keras models called as", TITLES, "speed-calls", most=len(TITLES), placeholder=TITLES["function"]
            )
            if keras
            else []
        )
        device = linked.select("Device", {"auto": "GPU where there is one", "cpu": "CPU"}, "auto", "speed-device")
        seed = st.number_input(
            "Seed", 0, 2**31 - 1, 0, key="speed-seed", bind="query-params", help="Makes random input repeatable"
        )
    found = numbers(text)
    if not found:
        st.warning("Batch sizes: expected whole numbers with commas between them, for example 1, 8, 32.")
        return None, go
    return {
        "batch_sizes": found,
        "threads": None if number is None else int(number),
        "calls": calls or ["function"],
        "seconds": float(seconds),
        "device": device,
        "seed": int(seed),
    }, go
