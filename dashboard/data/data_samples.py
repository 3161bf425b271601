"""The tab Samples: rows as cards or as a table, narrowed and paged; one of them large with all it holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote, unquote

import streamlit as st

from dashboard import escape, linked, rerun, session, words
from dashboard.data import chosen_data, data_jobs, data_one, data_table, sample_grid
from dashboard.data.sample_grid import Look
from dashboard.session import View
from stethoscope.data.dataset import DataAbout
from stethoscope.data.view.shown import FieldScale, is_table
from stethoscope.jobs.store import Entry
from stethoscope.tasks.read_data import CARDS, TABLE_ROWS, RowsRead

_PER_PAGE = {"12": "12", "24": "24", "48": "48", "60": "60"}
_SIZES = {"small": "Small", "medium": "Medium", "large": "Large"}
_ORDERS = {"order": "As in the data", "shuffle": "Shuffled"}


def show(view: View, entry: Entry, about: DataAbout) -> None:
    """Draws the tab."""
    place = _number("place")
    if place is not None:
        data_one.show(view, entry, about, place, look())
        return
    params, per_page = _settings(about, entry)
    job = data_jobs.reading(entry, params)
    read = data_jobs.answer(state := data_jobs.asked(job, entry, view), job, RowsRead, entry, view)
    if read is None or state.result is None:
        return
    _remember_order(read.places, int(params["start"]), per_page)
    _extent(read, about, params, per_page)
    if read.table is not None:
        data_table.show(read.table, read.places, entry.id)
        return
    if not read.samples:
        st.caption("No row fits. Choose another class or split, or search for something else.")
        return
    key = f"grid-{entry.id}"
    now = sample_grid.show(
        state.result, state.id, read.samples, about.classes, look(), size=_size(), large=False, key=key
    )
    remember_look(now)
    _scales(read.scales)
    choice = sample_grid.opened(key)
    if choice is not None and isinstance(choice.value, int) and choice.value >= 0:
        session.remember("place", str(choice.value))
        rerun.whole_page()


def look() -> Look:
    """What is shown of marks, from the address: "hide" holds what is not."""
    parts = (session.recalled("hide") or "").split("|")
    hidden = tuple(unquote(part) for part in parts if part and part not in ("marks", "labels"))
    return Look("marks" not in parts, "labels" not in parts, hidden)


def remember_look(now: Look) -> None:
    """Puts what is shown of marks into the address."""
    hidden = [name for name, on in (("marks", now.marks), ("labels", now.labels)) if not on]
    parts = [*hidden, *(quote(label, safe="") for label in now.hidden)]
    session.remember("hide", "|".join(parts)[:1_500] or None)


def _settings(about: DataAbout, entry: Entry) -> tuple[dict[str, Any], int]:
    """Draws how the rows are chosen; returns the job's parameters and the rows of one page."""
    table = is_table(about)
    usual = TABLE_ROWS if table else CARDS
    row = st.grid(5, min_column_width=150, vertical_alignment="bottom")
    only: dict[str, Any] = {}
    with row.cell():
        only["class"] = _choice("Class", "class", chosen_data.classes(entry), "All classes")
    with row.cell():
        only["split"] = _choice("Split", "split", about.splits, "All splits")
    with row.cell():
        text = st.text_input(
            "Find", session.recalled("find") or "", key="find", placeholder="name, label or text", on_change=_first_page
        )
        session.remember("find", text or None)
        only["text"] = text
    with row.cell():
        order = st.selectbox(
            "Order",
            list(_ORDERS),
            index=int(session.recalled("seed") is not None),
            format_func=_ORDERS.__getitem__,
            key="order",
            on_change=_first_page,
        )
    with row.cell(), st.popover("More", width="stretch"):
        per_page = TABLE_ROWS if table else int(linked.select("Samples on a page", _PER_PAGE, "24", "per-page"))
        if not table:
            linked.select("Size", _SIZES, "medium", "card-size")
        seed = st.number_input(
            "Seed of the shuffle", 0, 2**31 - 1, _number("seed") or 0, key="shuffle-seed", disabled=order != "shuffle"
        )
        only["problem"] = st.toggle(
            "Only rows with a problem", session.recalled("bad") == "1", key="bad", on_change=_first_page
        )
        fed = not table and bool(chosen_data.steps()) and st.toggle("Beside it, what the model gets", key="as-fed")
    session.remember("seed", str(seed) if order == "shuffle" else None)
    session.remember("bad", "1" if only["problem"] else None)
    start = _number("start") or 0
    params: dict[str, Any] = {
        "start": start,
        # The usual number is not said: what the heading has asked for is the same job.
        "count": None if per_page == usual else per_page,
        "only": {name: value for name, value in only.items() if value},
        "seed": int(seed) if order == "shuffle" else None,
        "data_options": chosen_data.options(),
        "preparation": chosen_data.steps() if fed else None,
    }
    return params, per_page


def _choice(label: str, key: str, values: Sequence[str], everything: str) -> str:
    asked = session.recalled(key) or ""
    options = ["", *values] if asked in values or not asked else ["", asked, *values]
    chosen = st.selectbox(
        label,
        options,
        index=options.index(asked),
        key=key,
        on_change=_first_page,
        disabled=len(options) < 2,
        format_func=lambda one: escape.clip(one, 60) if one else everything,
    )
    session.remember(key, chosen or None)
    return chosen or ""


def _first_page() -> None:
    session.remember("start", None)


def _extent(read: RowsRead, about: DataAbout, params: Mapping[str, Any], per_page: int) -> None:
    """Which rows are on the page, of how many, and the way to others."""
    start, shown, matches = int(params["start"]), len(read.places), read.matches
    narrowed = bool(params["only"])
    of = words.count(matches)
    what = "rows that fit" if narrowed else "rows"
    if not read.complete:
        what = f"rows that fit among the first {words.count(read.looked)} of {words.count(about.rows)} looked at"
    about_size = "" if about.rows_exact or narrowed else "about "
    line = f"{start + 1:,}–{start + shown:,} of {about_size}{of} {what}" if shown else f"none of {of} {what}"
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute", gap="small"):
        st.caption(line, width="content")
        with st.container(horizontal=True, vertical_alignment="center", gap="small", width="content"):
            st.button("Previous", key="page-before", disabled=start <= 0, on_click=_turn, args=(start - per_page,))
            st.button(
                "Next",
                key="page-after",
                on_click=_turn,
                args=(start + per_page,),
                disabled=start + shown >= matches and about.rows_exact,
            )
            st.number_input(
                "Go to row",
                0,
                max(0, about.rows - 1) if about.rows_exact else None,
                None,
                key="go-to-row",
                width=150,
                placeholder="Go to row",
                label_visibility="collapsed",
                on_change=_go,
            )


def _turn(start: int) -> None:
    session.remember("start", str(start) if start > 0 else None)


def _go() -> None:
    row = st.session_state.get("go-to-row")
    if isinstance(row, int):
        session.remember("place", str(row))


def _size() -> str:
    size = str(st.session_state.get("card-size") or session.recalled("card-size") or "medium")
    return size if size in sample_grid.SIZES else "medium"


def _number(name: str) -> int | None:
    said = session.recalled(name) or ""
    return int(said) if said.isdecimal() and said.isascii() and len(said) < 13 else None


def _remember_order(places: Sequence[int], start: int, per_page: int) -> None:
    """Keeps the rows of the page, in which the large view goes from one to the next."""
    st.session_state["_sample_order"] = (list(places), start, per_page)


def _scales(scales: Sequence[FieldScale]) -> None:
    """Says which values are drawn black and white where that is not obvious."""
    for one in scales[:3]:
        low, high = words.significant(one.low), words.significant(one.high)
        broken = f"; {words.plural(one.broken, 'value')} not finite" if one.broken else ""
        st.caption(f"{escape.code(one.field, 40)}: black is {low}, white is {high}{broken}.")
