"""What is asked and said before a run: what it may take, how many rows the model insists on, whether it can run at all."""

from __future__ import annotations

import streamlit as st

from dashboard import escape, words
from stethoscope.data.batching import Batching
from stethoscope.settings import settings
from stethoscope.types import Architecture

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
        "Memory limit (MiB)",
        16,
        most,
        most,
        step=64,
        key="limit",
        bind="query-params",
        help=f"What it may add to its process. {doing} that needs more is stopped, with a report.",
    )
    return int(chosen) * MIB


def fixed_batch(architecture: Architecture) -> int | None:
    """The number of rows the model insists on in every call, or None."""
    return Batching.of(architecture.inputs).fixed if architecture.inputs else None


def say_fixed_batch(rows: int | None) -> None:
    """Says what a fixed batch means for the settings above."""
    if rows is not None:
        st.caption(
            f"This model takes exactly {words.plural(rows, 'row')} in every call. Input is cut to that; a last call that is short is filled "
            "up, and the filling left out of the result."
        )


def runnable(architecture: Architecture) -> bool:
    """Says why a model cannot be run here, unless its code is missing, which `own_code` says; returns whether it can."""
    if not architecture.lacks_code:
        cannot_run(architecture.runnable)
    return not architecture.runnable


def cannot_run(reason: str) -> None:
    """A box with the reason, if there is one."""
    if reason:
        with st.container(border=True):
            st.markdown(f"**This model cannot be run here.** {escape.sentences(reason)}")
            st.caption("Its architecture can still be looked at.")
