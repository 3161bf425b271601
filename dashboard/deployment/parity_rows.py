"""The rows on which two models disagree most: shown as samples where the data is at hand, and as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from dashboard import escape, navigation, session, words
from dashboard.data import chosen_data, data_jobs, data_samples, data_use, sample_grid
from dashboard.session import View
from stethoscope.errors import NotFound
from stethoscope.jobs.state import JobState
from stethoscope.store import Entry, store
from stethoscope.tasks.read_data import RowsRead

_PICTURED = 6


def show(state: JobState, view: View, a: str, b: str) -> None:
    """Draws them.

    Args:
        state: a comparison that has outputs.
        view: with the first model.
        a: what the first model's file is called. Hostile.
        b: the other's. Hostile.
    """
    value = state.result.value if state.result is not None else {}
    found = list(value.get("worst_rows") or ())
    if not found:
        return
    st.markdown("**Rows that disagree most**")
    entry = _data(state, view)
    if entry is not None:
        _pictures(entry, state, view, found[:_PICTURED])
    st.dataframe(table(found, a, b), hide_index=True, height="content")


def table(found: Sequence[Mapping[str, Any]], a: str, b: str) -> dict[str, list[str]]:
    """One row for each: where it is, what it is called, what both answer, how far that is apart."""
    columns: dict[str, list[str]] = {"Row": [words.count(int(one["place"])) for one in found]}
    for title, key in (("Name", "name"), ("Label", "label")):
        if any(one.get(key) for one in found):
            columns[title] = [escape.clip(one.get(key) or "", 60) for one in found]
    if any("top_a" in one for one in found):
        first, second = (escape.clip(name, 40) for name in (a, b))
        columns[f"{first} says"] = [_class(one, "a") for one in found]
        columns[f"{second} says" if second != first else f"{second} (the other) says"] = [
            _class(one, "b") for one in found
        ]
        columns["Same class"] = ["yes" if one.get("top_a") == one.get("top_b") else "no" for one in found]
    columns["Largest difference"] = [
        "no number" if one.get("max_abs_diff") is None else words.difference(one["max_abs_diff"]) for one in found
    ]
    return columns


def _class(one: Mapping[str, Any], side: str) -> str:
    value = one.get(f"value_{side}")
    return (
        "—"
        if one.get(f"top_{side}") is None
        else f"class {one[f'top_{side}']}" + ("" if value is None else f", {words.significant(float(value), 4)}")
    )


def _data(state: JobState, view: View) -> Entry | None:
    """The data that the comparison was made on, if it is still here."""
    asked = state.params.get("data_id")
    if not asked:
        return None
    with_model = chosen_data.with_model(view.entry) if view.entry is not None else None
    if with_model is not None and with_model.id == asked:
        return with_model
    try:
        return store().get(str(asked))
    except NotFound:
        return None


def _pictures(entry: Entry, state: JobState, view: View, found: Sequence[Mapping[str, Any]]) -> None:
    params = {
        "places": [int(one["place"]) for one in found],
        "data_options": state.params.get("data_options"),
    }
    job = data_jobs.reading(entry, params)
    read_state = data_jobs.asked(job, entry, view)
    read = data_jobs.answer(read_state, job, RowsRead, entry, view, height=200)
    if read is None or read_state.result is None or not read.samples:
        return
    notes = {int(one["place"]): _note(one) for one in found}
    key = "parity-rows"
    sample_grid.show(
        read_state.result, read_state.id, read.samples, read.about.classes, data_samples.look(), size="small", large=False, key=key, notes=notes
    )  # fmt: skip
    choice = sample_grid.opened(key)
    if choice is not None and isinstance(choice.value, int) and choice.value >= 0:
        _open(entry, view, choice.value)


def _note(one: Mapping[str, Any]) -> str:
    if one.get("top_a") is not None and one.get("top_a") != one.get("top_b"):
        return f"{one['top_a']} → {one['top_b']}"
    off = one.get("max_abs_diff")
    return "no number" if off is None else f"Δ {words.significant(float(off), 2)}"


def _open(entry: Entry, view: View, place: int) -> None:
    """The row on the page Data, large."""
    sample = view.entry is not None and entry.id == f"{view.entry.id}-data"
    target = data_use.target()
    params = {
        "data": session.WITH_MODEL if sample else entry.id,
        "tab": "samples",
        "place": str(place),
        **({"model": view.entry.id} if view.entry is not None else {}),
        **({data_use.TARGET: target} if target else {}),
    }
    page = next(page.path for page in navigation.page_files() if page.url_path == "data")
    st.switch_page(page, query_params=params)
