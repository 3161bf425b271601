"""Runs as a table: what each reached, what it was given; and the same as CSV."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from dashboard import escape, rerun, words
from dashboard.training import curves_link
from dashboard.training.compare_inputs import Chosen
from stethoscope.logs.runs.axes import is_number, name_of
from stethoscope.logs.runs.compare import Comparison, Metric, as_csv, short_names

_COPIED_RUNS = 200
_TABLE_ROWS = 16


def draw(job_id: str, compared: Comparison, metrics: Sequence[Metric], by: Metric, chosen: Chosen) -> None:
    """The table, best runs first, and its downloads."""
    order = by.order().tolist()
    columns, config = columns_of(compared, metrics, chosen, order)
    event = st.dataframe(
        columns,
        hide_index=True,
        column_config=config,
        key="compare-table",
        on_select="rerun",
        selection_mode="multi-row",
        height="content" if len(order) <= _TABLE_ROWS else 38 * _TABLE_ROWS,
    )
    picked = [order[row] for row in event["selection"]["rows"] if row < len(order)]

    def text() -> str:
        return as_csv(compared, tuple(compared.parameters), metrics, order)

    with st.container(horizontal=True):
        runs = [compared.runs[at] for at in (picked or order)][: curves_link.MOST_NAMED]
        label = f"Show the curves of {_which(picked, runs)}"
        if st.button(label, key="compare-curves", help="Choose rows of the table to see only those"):
            curves_link.show_curves(job_id, runs)
            rerun.whole_page()
        st.download_button("Download CSV", text, "runs.csv", "text/csv", key="compare-csv", on_click="ignore")
        if len(order) <= _COPIED_RUNS:
            with st.popover("Copy CSV"):
                st.code(text(), language=None)


def _which(picked: Sequence[int], runs: Sequence[str]) -> str:
    if len(runs) == 1:
        return "this run"
    return f"these {len(runs):,} runs" if picked else f"the best {len(runs):,} runs"


def columns_of(
    compared: Comparison, metrics: Sequence[Metric], chosen: Chosen, order: Sequence[int]
) -> tuple[dict[str, list[Any]], dict[str, Any]]:
    """The table's columns and how they are shown, one row per run in the order given."""
    short = short_names(chosen.parameters)
    by = next(one for one in metrics if one.tag == chosen.by)
    best = by.winner
    columns: dict[str, list[Any]] = {
        "Place": [rank if by.points[at] else None for rank, at in enumerate(order, 1)],
        "Run": [escape.clip(compared.runs[at]) + (" (best)" if at == best else "") for at in order],
    }
    number = st.column_config.NumberColumn(format="%.5g")
    config: dict[str, Any] = {
        "Place": st.column_config.NumberColumn(width=60),
        "Run": st.column_config.TextColumn(pinned=True),
    }
    if len(set(compared.groups)) > 1:
        columns["Group"] = [escape.clip(compared.groups[at], 60) for at in order]
    for metric in [by, *(one for one in metrics if one is not by)]:
        name = escape.clip(metric.tag, 40)
        reached = [bool(metric.points[at]) for at in order]
        config[f"{name}, best"] = config[f"{name}, last"] = number
        columns[_free(columns, f"{name}, best")] = [
            float(metric.best[at]) if has and math.isfinite(metric.best[at]) else None
            for at, has in zip(order, reached, strict=True)
        ]
        columns[_free(columns, f"{name}, at")] = [
            int(metric.best_step[at]) if has and math.isfinite(metric.best[at]) else None
            for at, has in zip(order, reached, strict=True)
        ]
        columns[_free(columns, f"{name}, last")] = [
            float(metric.last[at]) if has and math.isfinite(metric.last[at]) else None
            for at, has in zip(order, reached, strict=True)
        ]
        if bool(metric.nonfinite.any()):
            columns[_free(columns, f"{name}, not finite")] = [_not_finite(metric, at) for at in order]
    for parameter in chosen.parameters:
        values = [compared.parameters[parameter][at] for at in order]
        heading = _free(columns, escape.clip(short[parameter], 40))
        columns[heading] = _cells(values)
        if any(isinstance(value, float) for value in columns[heading]):
            config[heading] = number
    if "status" in compared.notes:
        columns[_free(columns, "Status")] = [escape.clip(compared.notes["status"][at], 24).lower() for at in order]
    return columns, config


def _not_finite(metric: Metric, at: int) -> str:
    """The cells of numbers stay empty for NaN, so this says what is missing there."""
    count = int(metric.nonfinite[at])
    if not count:
        return ""
    last = float(metric.last[at])
    ends = "" if math.isfinite(last) else f", the last is {words.significant(last)}"
    return f"{count:,} of {int(metric.points[at]):,} points{ends}"


def _free(columns: Mapping[str, Any], name: str) -> str:
    """A heading not used yet: a parameter may be called "Run"."""
    taken = name
    while taken in columns:
        taken += "\u200b"
    return taken


def _cells(values: Sequence[Any]) -> list[Any]:
    """Numbers stay numbers, so that they sort as such; a column with anything else is text."""
    if all(value is None or is_number(value) for value in values):
        return list(values)
    return [None if value is None else escape.clip(name_of(value), 60) for value in values]
