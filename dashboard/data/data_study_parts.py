"""Distributions of the data in view: what stands out in words, then a picture of every field."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from dashboard import session, words
from dashboard.data import data_jobs, data_study_fields, data_study_figures, data_study_kinds, data_study_remarks
from dashboard.data.data_study_rows import Show, picture
from dashboard.session import View
from stethoscope.data.study.marks import Categories
from stethoscope.data.study.numbers import Dates, Numbers
from stethoscope.data.study.pictures import Masks, Pictures
from stethoscope.data.study.study import StudiedData, StudiedField
from stethoscope.data.study.texts import Sequences, Texts, Tokens
from stethoscope.jobs.store import Entry
from stethoscope.types import Budget, Job

_MEMORY_BYTES = 4 << 30
_TIME_S, _LONG_S, _LIMIT_S = 20.0, 240.0, 300.0


def show(view: View, entry: Entry, options: Mapping[str, Any], show_row: Show) -> None:
    """Studies the data where that was not done yet, and draws what was found.

    Args:
        view: who looks.
        entry: the data.
        options: what the visitor said about it, as `DataReader.open` takes it.
        show_row: puts one row of the data in view.
    """
    thorough = session.recalled("read") == "all"
    params = {"data_options": dict(options), "time_s": _LONG_S if thorough else _TIME_S}
    job = Job("study_data", {"data": entry.file}, params, Budget(_MEMORY_BYTES, _LIMIT_S))
    state = data_jobs.asked(job, entry, view)
    found = data_jobs.answer(state, job, StudiedData, entry, view)
    if found is not None and state.result is not None:
        _draw(found, state.result.wall_s, show_row)


def _draw(found: StudiedData, wall_s: float, show_row: Show) -> None:
    _extent(found, wall_s)
    data_study_remarks.draw(found, show_row)
    _classes(found)
    for one in found.fields:
        if isinstance(one.of, Pictures) and one.of.rows:
            data_study_kinds.pictures(one.name, one.of, show_row)
    if found.marks is not None:
        data_study_kinds.marks(found.marks, show_row)
    for one in found.fields:
        if isinstance(one.of, Masks):
            data_study_kinds.masks(one.name, one.of, found.about.classes)
    # The target is drawn above, with its classes.
    elsewhere = {one.name for one in found.fields if found.classes is not None and one.role == "target"}
    # What marks say of a picture is drawn with the marks.
    data_study_fields.draw([one for one in found.fields if _is_told(one)], elsewhere)
    for one in found.fields:
        match one.of:
            case Texts():
                data_study_kinds.texts(one.name, one.of)
            case Dates():
                data_study_kinds.dates(one.name, one.of)
            case Tokens():
                data_study_kinds.tokens(one.name, one.of)
            case Sequences():
                data_study_kinds.sequences(one.name, one.of, "Sound" if one.kind == "audio" else "Sequences")
    if found.relations is not None:
        with st.expander("How the columns go together"):
            picture(data_study_figures.relations(found.relations), "relations", "Rank correlations of columns")
            st.caption(
                "Spearman's rank correlation: 1 where one always rises with the other, −1 where it always falls."
            )


def _is_told(one: StudiedField) -> bool:
    """Whether it is a field of numbers or categories with something in it."""
    return (isinstance(one.of, Numbers) and bool(one.of.count)) or (
        isinstance(one.of, Categories) and bool(one.of.count or one.of.missing)
    )


def _extent(found: StudiedData, wall_s: float) -> None:
    rows, read = found.rows, found.rows_read
    if found.complete:
        st.caption(f"All {words.plural(read, 'row')} read, in {words.duration(wall_s)}.")
        return
    how = "chosen at random" if found.order == "random" else "from the start"
    line, button = st.columns([5, 1], vertical_alignment="center")
    line.caption(
        f"{words.count(read)} of {words.plural(rows, 'row')} read, {how}, in {words.duration(wall_s)}. What follows is about these."
    )
    if session.recalled("read") != "all":
        button.button(
            "Read more",
            on_click=session.remember,
            args=("read", "all"),
            width="stretch",
            help="Reads for up to 4 minutes",
        )


def _classes(found: StudiedData) -> None:
    told = found.classes
    if told is not None:
        st.markdown("**Classes**")
        picture(data_study_figures.classes(told, found.by_split, found.empty_classes), "classes", "Rows of each class")
        if told.others:
            st.caption(f"{words.count(told.others)} rows belong to classes that are not shown.")
