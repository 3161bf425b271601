"""The weights of one layer, read from the file when a visitor asks: statistics, and how their values are spread."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from dashboard import asking, escape, figures, panel, progress, render, session, words
from dashboard.session import View
from stethoscope.codec import partial_of
from stethoscope.models.weights.tensor_summary import Histogram, LayerTensor
from stethoscope.tasks.weights_of_layer import LayerWeights
from stethoscope.types import Budget, Job, Layer

_MEMORY_BYTES = 2 << 30
_TIME_S = 120.0
_DRAWN = 4
_TRAINABLE = {True: "yes", False: "no", None: "not stated"}


def show(view: View, layer: Layer) -> None:
    """A switch, and with it on the weights of the selected layer; it stays on from layer to layer, and in the address."""
    assert view.entry is not None
    on = st.toggle(
        "Weights",
        value=session.recalled("weights") is not None,
        key="weights-of-layers",
        help="Reads this layer's weights from the file: statistics, and a histogram of each tensor.",
    )
    session.remember("weights", "yes" if on else None)
    if not on:
        return
    job = Job(
        "weights_of_layer", {"model": view.entry.file}, {"layer": layer.path}, Budget(_MEMORY_BYTES, _TIME_S), "light"
    )
    state = asking.state_of(job, view)
    if not state.done:
        progress.watch(state, subject=view.entry.name, may_cancel=panel.may_cancel(state, view))
        return
    read = None if state.result is None else partial_of(state.result, LayerWeights)
    if read is None:
        render.ending(state)
        return
    answer(read)


def answer(read: LayerWeights) -> None:
    """Statistics and histograms of a layer's tensors, or why there are none."""
    weights = read.weights
    if read.unreadable:
        st.caption(escape.sentences(read.unreadable))
    if not weights:
        if not read.unreadable:
            st.caption("This layer stores no weights.")
        return
    st.dataframe(table(weights), hide_index=True, height="content" if len(weights) <= 8 else 300)
    drawn = [(one.name, one.histogram) for one in weights if one.histogram is not None and one.histogram.counts]
    grid = st.grid(2, min_column_width=240)
    for place, (name, values) in enumerate(drawn[:_DRAWN]):
        with grid.cell():
            st.caption(escape.code(name, 60))
            st.plotly_chart(
                histogram(values),
                config=figures.CONFIG,
                key=f"weights-{place}",
                alt=f"Histogram of {escape.clip(name, 60)}",
            )
    if len(drawn) > _DRAWN:
        st.caption(f"Histograms of the first {_DRAWN} of {words.plural(len(drawn), 'tensor')}.")


def table(weights: Sequence[LayerTensor]) -> dict[str, list[str]]:
    """One row per tensor."""
    columns = {
        "Tensor": [escape.clip(one.name, 200) for one in weights],
        "Shape": [words.shape(one.shape) for one in weights],
        "dtype": [escape.clip(one.dtype or "not stated", 24) for one in weights],
        "Trainable": [_TRAINABLE[one.trainable] for one in weights],
        "Mean": [_number(one.mean) for one in weights],
        "Std": [_number(one.std) for one in weights],
        "Min": [_number(one.min) for one in weights],
        "Max": [_number(one.max) for one in weights],
        "Norm": [_number(one.norm) for one in weights],
        "Zeros": ["–" if one.zero_fraction is None else words.share(one.zero_fraction, 1) for one in weights],
        "NaN or ∞": ["–" if one.nonfinite is None else words.count(one.nonfinite) for one in weights],
    }
    if any(one.quantisation for one in weights):
        columns["Stored as"] = [escape.clip(_quantisation(one.quantisation), 120) for one in weights]
    return columns


def _quantisation(stored: Mapping[str, Any] | None) -> str:
    if not stored:
        return "as it is"
    return ", ".join(f"{key} {item}" for key, item in stored.items() if not isinstance(item, list | dict))


def _number(value: float | None) -> str:
    return "–" if value is None else words.significant(value)


def histogram(values: Histogram) -> Any:
    """Bars over the range of the values, on a logarithmic axis: most weights lie near zero, and the rest would not show."""
    edges, counts = values.edges, values.counts
    middles = [(low + high) / 2 for low, high in itertools.pairwise(edges)]
    figure = figures.base(190, bargap=0)
    figure.add_bar(
        x=middles,
        y=counts,
        width=[high - low for low, high in itertools.pairwise(edges)],
        marker_color=figures.BLUE,
        marker_line_width=0,
        customdata=[[words.significant(low), words.significant(high)] for low, high in itertools.pairwise(edges)],
        hovertemplate="%{customdata[0]} to %{customdata[1]}<br>%{y:,} values<extra></extra>",
    )
    figure.update_xaxes(title_text="Value")
    figure.update_yaxes(title_text="Values (log scale)", type="log", exponentformat="power", dtick=1)
    return figure
