"""Rows of a table as a table: numbers as numbers, dates and texts as they are, the target first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from dashboard import escape, rerun, session, words
from stethoscope.data.view.shown import Cell, RowTable

_ROLES = {"target": "target", "split": "split", "other": "not used"}


def show(table: RowTable, places: Sequence[int], key: str) -> None:
    """Draws the rows; a click on one opens it."""
    columns: dict[str, list[Any]] = {"row": list(places)}
    config: dict[str, Any] = {"row": st.column_config.NumberColumn("Row", format="localized", pinned=True)}
    order = sorted(range(len(table.columns)), key=lambda at: table.columns[at].role != "target")
    for at in order:
        column = table.columns[at]
        name = f"c{at}"
        columns[name] = [_cell(row[at], number=column.kind == "number") for row in table.rows]
        title = escape.clip(column.name, 60) or f"column {at + 1}"
        role = _ROLES.get(column.role)
        label = f"{title} ({role})" if role else title
        unit = f", {column.unit}" if column.unit else ""
        about_it = escape.markdown(f"{column.name}: {column.kind}{unit}", 200)
        if column.kind == "number":
            config[name] = st.column_config.NumberColumn(label, help=about_it)
        else:
            config[name] = st.column_config.TextColumn(label, help=about_it)
    picked = st.dataframe(
        columns,
        hide_index=True,
        column_config=config,
        height=min(720, 38 + 35 * max(1, len(places))),
        on_select="rerun",
        selection_mode="single-row",
        key=f"rows-{key}-{places[0] if places else 0}",
    )
    rows = picked["selection"]["rows"]
    if rows and 0 <= rows[0] < len(places):
        session.remember("place", str(places[rows[0]]))
        rerun.whole_page()
    left_out = table.columns_total - len(table.columns)
    if left_out > 0:
        st.caption(f"{words.plural(left_out, 'more column')} not shown here; a row that is opened has them all.")
    for place, problem in table.problems[:20]:
        st.caption(f"Row {words.count(place)}: {escape.sentences(problem)}")


def _cell(value: Cell, *, number: bool) -> Cell:
    if number:
        # NaN and infinities come by name.
        return float(value) if isinstance(value, str) and value in ("nan", "inf", "-inf") else value
    return None if value is None else escape.clip(value, 200)
