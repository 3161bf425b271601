"""Opens the curves of some runs: the text that the charts keep in the address, written from here."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dashboard import session

MOST_NAMED = 80
"""Runs that a link can name."""
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def view_of(runs: Sequence[str]) -> str:
    """The charts' view in which only these runs are shown, the first 80 of them.

    Source: dashboard/training/curves_view/view_state.js, letter v.
    """
    return "v" + ".".join(_short(name) for name in runs[:MOST_NAMED])


def show_curves(job_id: str, runs: Sequence[str]) -> None:
    """Lets the page open at its charts, with only these runs, when it runs again."""
    session.remember("view", view_of(runs))
    session.remember("tab", None)
    st.session_state[f"tabs-{job_id}"] = "Curves"


def _short(name: str) -> str:
    """FNV-1a over UTF-16, in base 36."""
    value = 0x811C9DC5
    content = name.encode("utf-16-le", "surrogatepass")
    for at in range(0, len(content), 2):
        value = ((value ^ (content[at] | content[at + 1] << 8)) * 0x01000193) & 0xFFFFFFFF
    text = ""
    while value:
        value, digit = divmod(value, 36)
        text = _DIGITS[digit] + text
    return text or "0"
