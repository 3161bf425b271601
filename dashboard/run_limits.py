"""The fields for what a run may take before it is stopped."""

from __future__ import annotations

import streamlit as st

from stethoscope.settings import settings

MIB = 1 << 20


def most_bytes() -> int:
    """One job's share of the machine, in whole MiB but in bytes."""
    return int(settings().job_memory_bytes) // MIB * MIB


def memory_limit(doing: str = "A run") -> int:
    """The field for what a run may add to its process, in bytes; one job's share of the machine at first.

    Args:
        doing: what is run, as the help begins ("A conversion").
    """
    most = most_bytes() // MIB
    chosen = st.number_input(
        "Memory limit (MiB)", 16, most, most, step=64, key="limit", bind="query-params",
        help=f"What it may add to its process. {doing} that needs more is stopped, with a report.",
    )  # fmt: skip
    return int(chosen) * MIB
