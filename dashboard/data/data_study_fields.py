"""Every field of numbers or categories: a small histogram each, and a table of what can be said in numbers."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import streamlit as st

from dashboard import escape, words
from dashboard.data import data_study_figures
from dashboard.data.data_study_rows import picture

_FIELDS_AT_ONCE = 12


def draw(fields: Sequence[Mapping[str, Any]], elsewhere: Collection[str] = ()) -> None:
    """The fields, with a filter and pages where they are many; those named in `elsewhere` are only in the table."""
    if not fields:
        return
    st.markdown("**Fields**" if len(fields) > 1 else f"**Field** {escape.code(fields[0]['name'], 60)}")
    shown = list(fields)
    if len(fields) > 8:
        text = st.text_input(
            "Filter fields", key="field-filter", placeholder="Filter by name", label_visibility="collapsed"
        )
        shown = [one for one in fields if text.lower() in str(one["name"]).lower()]
    pages = -(-sum(one["name"] not in elsewhere for one in shown) // _FIELDS_AT_ONCE)
    page = 0
    if pages > 1:
        page = int(st.number_input(f"Page (1 to {pages})", 1, pages, 1, key="field-page", width=160)) - 1
    grid = st.grid(3, min_column_width=260, gap=("small", "medium"))
    drawn = [one for one in shown if one["name"] not in elsewhere]
    for one in drawn[page * _FIELDS_AT_ONCE : (page + 1) * _FIELDS_AT_ONCE]:
        figure = (
            data_study_figures.numbers(one, one["name"], unit="Rows" if one["single"] else "Values")
            if one["study"] == "number"
            else data_study_figures.categories(one, one["name"])
        )
        if figure is not None:
            with grid.cell():
                picture(figure, f"field-{one['name']}", f"Distribution of {escape.clip(one['name'])}")
    st.dataframe(_table(shown), hide_index=True, height="content" if len(shown) <= 12 else 420)


def _table(fields: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """One row for each field: what can be said of it in numbers; columns that would be empty are left out."""

    def told(one: Mapping[str, Any], key: str) -> Any:
        value = one.get(key)
        return words.significant(value) if isinstance(value, float) else "" if value is None else value

    def quantile(one: Mapping[str, Any], part: str) -> str:
        value = (one.get("quantiles") or {}).get(part)
        return "" if value is None or isinstance(value, str) else words.significant(value)

    told_of = {
        "Field": [escape.clip(one["name"]) for one in fields],
        "Role": [one["role"] for one in fields],
        "Kind": [one["kind"] for one in fields],
        "Missing": [words.count(int(one.get("nan", one.get("missing")) or 0)) for one in fields],
        "Distinct": ["" if one.get("distinct") is None else words.count(one["distinct"]) for one in fields],
        "Mean": [told(one, "mean") for one in fields],
        "Std": [told(one, "std") for one in fields],
        "Min": [told(one, "min") for one in fields],
        "5 %": [quantile(one, "0.05") for one in fields],
        "Median": [quantile(one, "0.5") for one in fields],
        "95 %": [quantile(one, "0.95") for one in fields],
        "Max": [told(one, "max") for one in fields],
        "Zeros": ["" if "zeros" not in one else words.count(one["zeros"]) for one in fields],
        "Commonest": [escape.clip(one["values"][0]["value"], 40) if one.get("values") else "" for one in fields],
    }
    return {name: column for name, column in told_of.items() if any(column)}
