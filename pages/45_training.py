"""How did the training go, and what went wrong in it?"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import streamlit as st

from dashboard import render, session
from dashboard.training import compare_parts, log_choice, logged_graphs, media_parts, training_parts
from dashboard.training.log_choice import LogView

PAGE = {"title": "Curves", "section": "Training", "url_path": "training", "icon": ""}


class Tab(NamedTuple):
    """One view of a log."""

    draw: Callable[[LogView], None]
    kind: str = ""
    """Of the media it is for; it is there only when the log has some."""


TABS = {
    "Curves": Tab(lambda log: training_parts.curves(log, training_parts.examined(log))),
    "Findings": Tab(lambda log: training_parts.findings(log, training_parts.examined(log))),
    "Compare": Tab(compare_parts.show),
    "Histograms": Tab(media_parts.histograms, "histogram"),
    "Images": Tab(media_parts.images, "image"),
    "Texts": Tab(media_parts.texts, "text"),
    "Precision–recall": Tab(media_parts.precision_recall, "pr_curve"),
    "Graph": Tab(logged_graphs.show, "graph"),
}


def tab(log: LogView) -> None:
    """Draws the tabs this log has something for, and the one that is open."""
    shown = [name for name, one in TABS.items() if not one.kind or one.kind in log.kinds]
    asked = next((name for name in shown if name.lower() == session.recalled("tab")), None)
    made = st.tabs(shown, default=asked, key=f"tabs-{log.job_id}", on_change="rerun")
    opened = next((name for name, one in zip(shown, made, strict=True) if one.open), shown[0])
    session.remember("tab", None if opened == shown[0] else opened.lower())
    with made[shown.index(opened)]:
        TABS[opened].draw(log)


def page() -> None:
    """The question, the log, its views."""
    view = session.current()
    render.question("How did the training go, and what went wrong in it?")
    log = log_choice.current(view)
    if log is not None:
        log_choice.heading(log)
        tab(log)


page()
