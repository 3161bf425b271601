"""Similarity: which units of a layer behave alike over the data."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from dashboard import asking, escape, figures, linked, outputs, words
from dashboard.activations import activation_figures
from dashboard.activations.activation_input import Input
from stethoscope.codec import answer_of
from stethoscope.tasks.similarity import Similarity

MEASURES = {"correlation": "Correlation", "cosine": "Cosine"}
_ALIKE = 0.95


def show(given: Input, layers: Sequence[str]) -> None:
    """The view Similarity of the page Activations."""
    if not layers:
        st.caption("Choose a layer on the left.")
        return
    row = st.grid(3, min_column_width=150, vertical_alignment="bottom")
    with row.cell():
        measure = linked.select("Measure", MEASURES, "correlation", "measure")
    with row.cell():
        rows = st.number_input(
            "Rows", 8, 100_000, 500, key="similar-rows", bind="query-params", help="Evenly spaced over the data"
        )
    assert given.view.entry is not None
    job = given.job("similarity", {"layer": layers[0], "measure": measure, "rows": int(rows), "seed": 0})
    result = asking.answer(job, given.view, given.view.entry.name, slot="similarity")
    if result is None:
        return
    alike = answer_of(result, Similarity)
    path = result.files.get(alike.matrix)
    matrix = None if path is None else outputs.load(path)
    if matrix is None:
        st.caption("This run left no matrix. Ask again.")
        return
    order = np.asarray(alike.order, np.intp)
    units = [str(alike.units[place]) for place in order]
    arranged = np.asarray(matrix, np.float64)[np.ix_(order, order)]
    st.markdown(
        f"{escape.code(layers[0], 60)} · {words.plural(alike.all_units, 'unit')}"
        + (f", {words.count(len(matrix))} of them compared" if len(matrix) < alike.all_units else "")
        + f" · over {words.plural(alike.rows, 'row')}"
    )
    figure = activation_figures.matrix(
        arranged,
        down="unit",
        across="unit",
        value=measure,
        around_zero=True,
        down_names=units,
        across_names=units,
        square=True,
        height=560,
        limits=(-1.0, 1.0),
    )
    st.plotly_chart(
        figure,
        config=figures.CONFIG,
        key="similarity",
        alt="How alike the units behave, similar ones beside each other",
    )
    _pairs(arranged, units)


def _pairs(matrix: np.ndarray[tuple[int, ...], np.dtype[np.float64]], units: Sequence[str]) -> None:
    silent = int((~np.isfinite(np.diag(matrix))).sum())
    upper = np.triu(np.nan_to_num(matrix), 1)
    alike = int((upper >= _ALIKE).sum())
    order = np.argsort(-upper, axis=None)[:10]
    rows, columns = np.unravel_index(order, upper.shape)
    told = [f"{words.plural(alike, 'pair')} above {_ALIKE:g}"]
    if silent:
        told.append(f"{words.plural(silent, 'unit')} never change and are left blank")
    st.caption(" · ".join(told) + ". Units that always move together add little that one of them would not.")
    found = [(units[a], units[b], float(upper[a, b])) for a, b in zip(rows, columns, strict=True) if upper[a, b] > 0]
    if found:
        with st.expander("Most similar pairs"):
            st.dataframe(
                {
                    "Unit": [one for one, _, _ in found],
                    "Other unit": [other for _, other, _ in found],
                    "Similarity": [words.significant(value) for _, _, value in found],
                },
                hide_index=True,
            )
