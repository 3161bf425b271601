"""Every field of numbers or categories: a small histogram each, and a table of what can be said in numbers."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import streamlit as st

from dashboard import escape, words
from dashboard.data import data_study_figures
from dashboard.data.data_study_rows import picture
from stethoscope.data.study.marks import Categories
from stethoscope.data.study.numbers import Numbers
from stethoscope.data.study.study import StudiedField

_FIELDS_AT_ONCE = 12


def draw(fields: Sequence[StudiedField], elsewhere: Collection[str] = ()) -> None:
    """The fields, with a filter and pages where they are many; those named in `elsewhere` are only in the table."""
    if not fields:
        return
    st.markdown("**Fields**" if len(fields) > 1 else f"**Field** {escape.code(fields[0].name, 60)}")
    shown = list(fields)
    if len(fields) > 8:
        text = st.text_input(
            "Filter fields", key="field-filter", placeholder="Filter by name", label_visibility="collapsed"
        )
        shown = [one for one in fields if text.lower() in one.name.lower()]
    pages = -(-sum(one.name not in elsewhere for one in shown) // _FIELDS_AT_ONCE)
    page = 0
    if pages > 1:
        page = int(st.number_input(f"Page (1 to {pages})", 1, pages, 1, key="field-page", width=160)) - 1
    grid = st.grid(3, min_column_width=260, gap=("small", "medium"))
    drawn = [one for one in shown if one.name not in elsewhere]
    for one in drawn[page * _FIELDS_AT_ONCE : (page + 1) * _FIELDS_AT_ONCE]:
        figure = (
            data_study_figures.numbers(one.of, one.name, unit="Rows" if one.single else "Values")
            if isinstance(one.of, Numbers)
            else data_study_figures.categories(one.of.values, one.name)
            if isinstance(one.of, Categories)
            else None
        )
        if figure is not None:
            with grid.cell():
                picture(figure, f"field-{one.name}", f"Distribution of {escape.clip(one.name)}")
    st.dataframe(_table(shown), hide_index=True, height="content" if len(shown) <= 12 else 420)


def _table(fields: Sequence[StudiedField]) -> dict[str, list[Any]]:
    """One row for each field: what can be said of it in numbers; columns that would be empty are left out."""
    numbers = [one.of if isinstance(one.of, Numbers) else None for one in fields]
    categories = [one.of if isinstance(one.of, Categories) else None for one in fields]

    def quantiles(part: str) -> list[str]:
        return ["" if one is None else _told(one.quantiles.get(part)) for one in numbers]

    told_of: dict[str, list[Any]] = {
        "Field": [escape.clip(one.name) for one in fields],
        "Role": [one.role for one in fields],
        "Kind": [one.kind for one in fields],
        "Missing": [words.count(_missing(one)) for one in fields],
        "Distinct": [
            "" if study is None or study.distinct is None else words.count(study.distinct)
            for study in (number or category for number, category in zip(numbers, categories, strict=True))
        ],
        "Mean": ["" if one is None else _told(one.mean) for one in numbers],
        "Std": ["" if one is None else _told(one.std) for one in numbers],
        "Min": ["" if one is None else _told(one.min) for one in numbers],
        "5 %": quantiles("0.05"),
        "Median": quantiles("0.5"),
        "95 %": quantiles("0.95"),
        "Max": ["" if one is None else _told(one.max) for one in numbers],
        "Zeros": ["" if one is None else words.count(one.zeros) for one in numbers],
        "Commonest": [
            escape.clip(one.values[0].value, 40) if one is not None and one.values else "" for one in categories
        ],
    }
    return {name: column for name, column in told_of.items() if any(column)}


def _told(value: float | None) -> str:
    return "" if value is None else words.significant(value)


def _missing(one: StudiedField) -> int:
    return one.of.nan if isinstance(one.of, Numbers) else one.of.missing if isinstance(one.of, Categories) else 0
