"""Two models' layers in one table, and one pair of them in detail."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import streamlit as st

from dashboard import escape, render, words
from dashboard.architecture import comparison_rows
from dashboard.architecture.comparison_rows import COLOURS, TITLES, Row
from dashboard.architecture.graph_view import Legend
from dashboard.architecture.layer_table import Column
from stethoscope.tasks.compare_architectures import WeightsApart
from stethoscope.types import Architecture

_WHAT = {
    "type": "type of layer",
    "config": "settings",
    "shape": "shape",
    "dtype": "type of numbers",
    "weights": "weights",
    "inputs": "what it reads",
}


def verdict(found: Sequence[Row], notes: Sequence[str]) -> None:
    """How far the two models are the same, in a sentence."""
    count = comparison_rows.counts(found)
    differing = {kind: number for kind, number in count.items() if number and kind != comparison_rows.SAME}
    listed = ", ".join(f"{words.count(number)} {TITLES[kind]}" for kind, number in differing.items())
    same = words.plural(count[comparison_rows.SAME], "layer") if count[comparison_rows.SAME] else "no layer"
    if not differing:
        render.verdict("good", "The same", f"All {same} are in both models with the same settings.")
    else:
        render.verdict("careful", "Different", f"{listed[:1].upper()}{listed[1:]}; {same} the same.")
    for note in notes:
        st.caption(escape.sentences(note))


def legend(found: Sequence[Row], theme: str | None) -> Legend:
    """What the colours in both graphs and in the table mean."""
    present = {row.kind for row in found}
    levels = [(COLOURS[kind], title) for kind, title in TITLES.items() if kind in present and kind in COLOURS]
    if comparison_rows.SAME in present:
        levels.append(("#4a535b" if theme == "dark" else "#c3c9cf", TITLES[comparison_rows.SAME]))
    return Legend("Layers", levels=levels)


def columns(found: Sequence[Row], here: Architecture, there: Architecture) -> list[Column]:
    """One row per layer of either model; plain text, never markup."""
    types = {layer.path: layer.type for layer in there.layers} | {layer.path: layer.type for layer in here.layers}
    relative = [None if row.weights is None else row.weights.relative for row in found]
    return [
        Column("here", "Layer here", [escape.clip(row.here or "–", 300) for row in found], width=(9, 2)),
        Column("there", "In the other", [_there(row) for row in found], width=(9, 1.6)),
        Column(
            "type", "Type", [escape.clip(types.get(row.here or row.there or "", "")) for row in found], width=(7, 1)
        ),
        Column("kind", "Difference", [_difference(row) for row in found], width=(11, 2)),
        Column(
            "weights",
            "Weights differ",
            ["–" if one is None else words.share(one, 1) for one in relative],
            relative,
            "norm of the difference of the weights, over the larger of the two norms",
            width=(7.5, 0.5),
        ),
    ]


def _there(row: Row) -> str:
    if row.there is None:
        return "–"
    return "same name" if row.there == row.here else escape.clip(row.there, 300)


def _difference(row: Row) -> str:
    if row.kind != comparison_rows.CHANGED:
        return TITLES[row.kind]
    names = dict.fromkeys(_WHAT[change.what] for change in row.changes)
    return escape.clip(f"changed: {', '.join(names)}", 120)


def details(row: Row) -> None:
    """One pair: how it was matched, and every difference beside each other."""
    with st.container(border=True, gap="xsmall"):
        if row.here is None or row.there is None:
            where = TITLES[row.kind]
            st.markdown(f"{escape.code(row.here or row.there, 200)} is {where}.")
            return
        names = escape.code(row.here, 200)
        if row.there != row.here:
            names += f" here is {escape.code(row.there, 200)} in the other"
        st.markdown(names)
        st.caption(f"Matched by {'name' if row.how == 'name' else 'its place and settings'} · {TITLES[row.kind]}")
        if row.weights is not None:
            st.caption(_weights(row.weights))
        if row.changes:
            st.dataframe(
                {
                    "What": [_WHAT[one.what] for one in row.changes],
                    "Setting": [escape.clip(one.field, 80) for one in row.changes],
                    "Here": [_value(one.a) for one in row.changes],
                    "In the other": [_value(one.b) for one in row.changes],
                },
                hide_index=True,
                height="content" if len(row.changes) <= 12 else 400,
            )


def _weights(weights: WeightsApart) -> str:
    return (
        f"Weights: norm here {words.significant(weights.norm_a)} · norm in the other {words.significant(weights.norm_b)} · norm of the "
        f"difference {words.significant(weights.norm_of_difference)} · differs by {words.share(weights.relative, 1)}"
    )


def _value(value: Any) -> str:
    if value is None:
        return "none"
    return escape.clip(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), 300)
