"""The rows on which two models disagree most: shown as samples where the data is at hand, and as a table."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dashboard import escape, navigation, session, words
from dashboard.data import chosen_data, data_jobs, data_samples, data_use, sample_grid
from dashboard.session import View
from stethoscope.compare.parity.comparison import WorstRow
from stethoscope.errors import NotFound
from stethoscope.jobs.protocol import JobState
from stethoscope.jobs.store import Entry, store
from stethoscope.tasks.read_data import RowsRead

_PICTURED = 6


def show(worst: Sequence[WorstRow], state: JobState, view: View, a: str, b: str) -> None:
    """Draws them.

    Args:
        worst: the rows.
        state: the comparison.
        view: with the first model.
        a: what the first model's file is called. Hostile.
        b: the other's. Hostile.
    """
    if not worst:
        return
    st.markdown("**Rows that disagree most**")
    entry = _data(state, view)
    if entry is not None:
        _pictures(entry, state, view, worst[:_PICTURED])
    st.dataframe(table(worst, a, b), hide_index=True, height="content")


def table(worst: Sequence[WorstRow], a: str, b: str) -> dict[str, list[str]]:
    """One row for each: where it is, what it is called, what both answer, how far that is apart."""
    columns: dict[str, list[str]] = {"Row": [words.count(row.place) for row in worst]}
    for title, texts in (("Name", [row.name for row in worst]), ("Label", [row.label for row in worst])):
        if any(texts):
            columns[title] = [escape.clip(text or "", 60) for text in texts]
    if any(row.top_a is not None for row in worst):
        first, second = (escape.clip(name, 40) for name in (a, b))
        columns[f"{first} says"] = [_class(row.top_a, row.value_a) for row in worst]
        columns[f"{second} says" if second != first else f"{second} (the other) says"] = [
            _class(row.top_b, row.value_b) for row in worst
        ]
        columns["Same class"] = ["yes" if row.top_a == row.top_b else "no" for row in worst]
    columns["Largest difference"] = [
        "no number" if row.max_abs_diff is None else words.difference(row.max_abs_diff) for row in worst
    ]
    return columns


def _class(top: int | None, value: float | None) -> str:
    return "—" if top is None or value is None else f"class {top}, {words.significant(value, 4)}"


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


def _pictures(entry: Entry, state: JobState, view: View, worst: Sequence[WorstRow]) -> None:
    params = {"places": [row.place for row in worst], "data_options": state.params.get("data_options")}
    job = data_jobs.reading(entry, params)
    read_state = data_jobs.asked(job, entry, view)
    read = data_jobs.answer(read_state, job, RowsRead, entry, view, height=200)
    if read is None or read_state.result is None or not read.samples:
        return
    notes = {row.place: _note(row) for row in worst}
    key = "parity-rows"
    sample_grid.show(
        read_state.result,
        read_state.id,
        read.samples,
        read.about.classes,
        data_samples.look(),
        size="small",
        large=False,
        key=key,
        notes=notes,
    )
    choice = sample_grid.opened(key)
    if choice is not None and isinstance(choice.value, int) and choice.value >= 0:
        _open(entry, view, choice.value)


def _note(row: WorstRow) -> str:
    if row.top_a is not None and row.top_a != row.top_b:
        return f"{row.top_a} → {row.top_b}"
    return "no number" if row.max_abs_diff is None else f"Δ {words.significant(row.max_abs_diff, 2)}"


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
