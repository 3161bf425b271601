"""What is in this data, and does it fit the model?"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import streamlit as st

from dashboard import described, render, session
from dashboard.data import (
    chosen_data,
    data_doubts,
    data_fiftyone,
    data_fit_parts,
    data_heading,
    data_samples,
    data_study_parts,
    data_welcome,
)
from dashboard.session import View
from stethoscope.data.dataset import DataAbout
from stethoscope.errors import NotFound
from stethoscope.jobs.store import Entry

PAGE = {"title": "Samples", "section": "Data", "url_path": "data", "icon": ""}


def distributions(view: View, entry: Entry, _about: DataAbout) -> None:
    """The tab Distributions; a statistic leads to the rows behind it."""
    data_study_parts.show(view, entry, chosen_data.options(), open_row)


def fit(view: View, entry: Entry, about: DataAbout) -> None:
    """The tab Fit to the model."""
    architecture = described.architecture(view)
    if architecture is not None:
        data_fit_parts.show(view, architecture, entry, about)


class Tab(NamedTuple):
    """One view of the data."""

    title: str
    draw: Callable[[View, Entry, DataAbout], None]


TABS = {
    "samples": Tab("Samples", data_samples.show),
    "distributions": Tab("Distributions", distributions),
    "fit": Tab("Fit to the model", fit),
    "doubts": Tab("Label doubts", data_doubts.show),
    "fiftyone": Tab("FiftyOne", data_fiftyone.show),
}


def open_row(place: int) -> None:
    """Puts one row of the data in view."""
    session.remember("place", str(place))
    st.session_state["_data_tab"] = "samples"


def tabs(view: View, entry: Entry, about: DataAbout) -> None:
    """Draws the tabs and the one that is open."""
    titles = [one.title for one in TABS.values()]
    key = f"data-tabs-{entry.id}"
    sent = st.session_state.pop("_data_tab", None)
    if sent in TABS:
        st.session_state[key] = TABS[sent].title
    asked = TABS.get(session.recalled("tab") or "")
    made = st.tabs(titles, default=asked.title if asked and not sent else None, key=key, on_change="rerun")
    opened = next((place for place, one in enumerate(made) if one.open), 0)
    session.remember("tab", list(TABS)[opened] if opened else None)
    with made[opened]:
        list(TABS.values())[opened].draw(view, entry, about)


def page() -> None:
    """The question, the data, its views."""
    view = session.current()
    render.question("What is in this data, and does it fit the model?")
    try:
        entry = chosen_data.current(view)
    except NotFound as error:
        data_welcome.gone(str(error))
        return
    if entry is None:
        data_welcome.show(view)
        return
    about = data_heading.show(view, entry)
    if about is not None:
        tabs(view, entry, about)


page()
