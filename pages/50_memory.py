"""How much memory does it need, what would lower it, and does it stay there?"""

from __future__ import annotations

import streamlit as st

from dashboard import described, own_code, render, run_limits, session
from dashboard.cost import fit_memory_inputs, memory_inputs
from stethoscope.types import Architecture

VIEWS = ("Before running", "How it grows", "What lowers it", "Training", "Repeated calls")
PAGE = {"title": "Memory", "section": "Cost", "url_path": "memory", "icon": ""}


def ready(view: session.View, architecture: Architecture) -> None:
    """What all questions share, then the chosen one."""
    assert view.entry is not None
    allowed = own_code.allowed(view, architecture)
    if not run_limits.runnable(architecture):
        return
    asked = st.segmented_control(
        "Question",
        VIEWS,
        default=VIEWS[1],
        key="question",
        bind="query-params",
        required=True,
        label_visibility="collapsed",
    )
    if asked == VIEWS[0]:
        memory_inputs.before(view, architecture, allowed=allowed)
    elif asked == VIEWS[1]:
        memory_inputs.growth(view, architecture, allowed=allowed)
    elif asked == VIEWS[2]:
        memory_inputs.lowering(view, allowed=allowed)
    elif asked == VIEWS[3]:
        fit_memory_inputs.training(view, architecture, allowed=allowed)
    else:
        memory_inputs.repeated(view, architecture, allowed=allowed)


def page() -> None:
    """The question, then whatever can be said about it."""
    view = session.current()
    render.question("How much memory does it need, what would lower it, and does it stay there?")
    architecture = described.architecture(view)
    if architecture is not None:
        ready(view, architecture)


page()
