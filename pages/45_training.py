"""How did the training go, and what went wrong in it?"""

from __future__ import annotations

import streamlit as st

from dashboard import compare_parts, log_choice, logged_graphs, media_parts, render, session, training_parts
from dashboard.log_choice import LogView

PAGE = {"title": "Curves", "section": "Training", "url_path": "training", "icon": ""}
# The views, and the kind of media that one of them is for.
TABS = {
    "Curves": "",
    "Findings": "",
    "Compare": "",
    "Histograms": "histogram",
    "Images": "image",
    "Texts": "text",
    "Precision–recall": "pr_curve",
    "Graph": "graph",
}


def tab(log: LogView) -> None:
    """Draws the tabs this log has something for, and the one that is open."""
    shown = [name for name, kind in TABS.items() if not kind or kind in log.kinds]
    asked = next((name for name in shown if name.lower() == session.recalled("tab")), None)
    made = st.tabs(shown, default=asked, key=f"tabs-{log.job_id}", on_change="rerun")
    opened = next((name for name, one in zip(shown, made, strict=True) if one.open), shown[0])
    session.remember("tab", None if opened == shown[0] else opened.lower())
    with made[shown.index(opened)]:
        draw(opened, log)


def draw(name: str, log: LogView) -> None:
    """One view of the log."""
    if name == "Curves":
        training_parts.curves(log, training_parts.examined(log))
    elif name == "Findings":
        training_parts.findings(log, training_parts.examined(log))
    elif name == "Compare":
        compare_parts.show(log)
    elif name == "Histograms":
        media_parts.histograms(log)
    elif name == "Images":
        media_parts.images(log)
    elif name == "Texts":
        media_parts.texts(log)
    elif name == "Graph":
        logged_graphs.show(log)
    else:
        media_parts.precision_recall(log)


def page() -> None:
    """The question, the log, its views."""
    view = session.current()
    render.question("How did the training go, and what went wrong in it?")
    log = log_choice.current(view)
    if log is not None:
        log_choice.heading(log)
        tab(log)


page()
