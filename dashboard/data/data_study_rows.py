"""Buttons that lead from a statistic to the rows behind it, and the pictures of a study."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import plotly.graph_objects as go
import streamlit as st

from dashboard import figures, words
from dashboard.data import data_study_figures
from stethoscope.data.study.numbers import Numbers

Show: TypeAlias = Callable[[int], None]
"""Puts one row of the data in view."""


def row_button(place: int, key: str, show_row: Show) -> None:
    """A button that puts a row in view."""
    st.button(f"row {place}", key=f"{key}-{place}", type="tertiary", on_click=show_row, args=(place,))


def rows(label: str, places: Sequence[int], key: str, show_row: Show) -> None:
    """A label, then a button for each row."""
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        st.caption(label, width="content")
        for place in places:
            row_button(place, key, show_row)


def picture(figure: go.Figure | None, key: str, alt: str) -> None:
    """Draws a figure where there is one; `alt` says what it shows."""
    if figure is not None:
        st.plotly_chart(figure, config=figures.CONFIG, key=f"study-{key}", alt=alt)


def histogram(study: Numbers, title: str, key: str, alt: str, *, height: int = 240, unit: str = "Rows") -> None:
    """Draws how numbers are distributed; where all are one, says so instead."""
    figure = data_study_figures.numbers(study, title, height=height, unit=unit)
    if figure is not None:
        picture(figure, key, alt)
    elif study.min is not None and study.min == study.max:
        value = words.count(int(study.min)) if study.whole else words.significant(study.min)
        st.caption(f"{title}: {value} in all of them.")
    else:
        st.caption(f"{title}: nothing to count.")
