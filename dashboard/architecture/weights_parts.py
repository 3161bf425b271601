"""The weights of one layer, read from the file when a visitor asks: statistics, and how their values are spread."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from dashboard import escape, figures, progress, render, session, words
from dashboard.session import View
from stethoscope.jobs.state import JobState
from stethoscope.types import Budget, Job, Layer

_MEMORY_BYTES = 2 << 30
_TIME_S = 120.0
_DRAWN = 4
_TRAINABLE = {"True": "yes", "False": "no"}


def show(view: View, layer: Layer) -> None:
    """A switch, and with it on the weights of the selected layer; it stays on from layer to layer, and in the address."""
    assert view.entry is not None
    on = st.toggle(
        "Weights", value=session.recalled("weights") is not None, key="weights-of-layers",
        help="Reads this layer's weights from the file: statistics, and a histogram of each tensor.",
    )  # fmt: skip
    session.remember("weights", "yes" if on else None)
    if not on:
        return
    state = _state(view, layer)
    if not state.done:
        progress.watch(state, subject=view.entry.name, may_cancel=state.owner == view.owner)
        return
    value = state.result.value if state.result is not None else {}
    if not isinstance(value.get("weights"), list):
        render.ending(state)
        return
    answer(value)


def _state(view: View, layer: Layer) -> JobState:
    """The job that reads this layer: the one of this tab, else a new one, which is over at once where it was read before."""
    assert view.entry is not None
    key = f"_weights-{view.entry.id}-{layer.path}"
    found = progress.find(str(st.session_state[key])) if key in st.session_state else None
    if found is not None:
        return found
    job = Job(
        "weights_of_layer", {"model": view.entry.file}, {"layer": layer.path}, Budget(_MEMORY_BYTES, _TIME_S), "light"
    )
    st.session_state[key] = progress.start(job, owner=view.owner, entry_id=view.entry.id)
    state = progress.find(st.session_state[key])
    assert state is not None, "it was started just now"
    return state


def answer(value: Mapping[str, Any]) -> None:
    """What the task `weights_of_layer` said."""
    weights = [one for one in value.get("weights") or () if isinstance(one, Mapping)]
    if value.get("unreadable"):
        st.caption(escape.sentences(value["unreadable"]))
    if not weights:
        if not value.get("unreadable"):
            st.caption("This layer stores no weights.")
        return
    st.dataframe(table(weights), hide_index=True, height="content" if len(weights) <= 8 else 300)
    drawn = [one for one in weights if (one.get("histogram") or {}).get("counts")]
    grid = st.grid(2, min_column_width=240)
    for place, one in enumerate(drawn[:_DRAWN]):
        with grid.cell():
            st.caption(escape.code(one.get("name", "weights"), 60))
            st.plotly_chart(
                histogram(one["histogram"]), config=figures.CONFIG, key=f"weights-{place}",
                alt=f"Histogram of {escape.clip(one.get('name', 'weights'), 60)}",
            )  # fmt: skip
    if len(drawn) > _DRAWN:
        st.caption(f"Histograms of the first {_DRAWN} of {words.plural(len(drawn), 'tensor')}.")


def table(weights: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """One row per tensor."""
    columns = {
        "Tensor": [escape.clip(one.get("name", ""), 200) for one in weights],
        "Shape": [words.shape(one.get("shape")) for one in weights],
        "dtype": [escape.clip(one.get("dtype") or "not stated", 24) for one in weights],
        "Trainable": [_TRAINABLE.get(str(one.get("trainable")), "not stated") for one in weights],
    }
    for title, key in (("Mean", "mean"), ("Std", "std"), ("Min", "min"), ("Max", "max"), ("Norm", "norm")):
        columns[title] = [_number(one.get(key)) for one in weights]
    columns["Zeros"] = ["–" if one.get("zero_fraction") is None else words.share(float(one["zero_fraction"]), 1) for one in weights]  # fmt: skip
    columns["NaN or ∞"] = [
        "–" if one.get("nonfinite") is None else words.count(int(one["nonfinite"])) for one in weights
    ]
    if any(one.get("quantisation") for one in weights):
        columns["Stored as"] = [escape.clip(_quantisation(one.get("quantisation")), 120) for one in weights]
    return columns


def _quantisation(value: Any) -> str:
    if not isinstance(value, Mapping):
        return str(value or "as it is")
    return ", ".join(f"{key} {item}" for key, item in value.items() if not isinstance(item, list | dict))


def _number(value: Any) -> str:
    return "–" if value is None else words.significant(float(value))


def histogram(value: Mapping[str, Any]) -> Any:
    """Bars over the range of the values, on a logarithmic axis: most weights lie near zero, and the rest would not show."""
    edges, counts = [float(edge) for edge in value["edges"]], [int(count) for count in value["counts"]]
    middles = [(low + high) / 2 for low, high in itertools.pairwise(edges)]
    figure = figures.base(190, bargap=0)
    figure.add_bar(
        x=middles, y=counts, width=[high - low for low, high in itertools.pairwise(edges)],
        marker_color=figures.BLUE, marker_line_width=0,
        customdata=[[words.significant(low), words.significant(high)] for low, high in itertools.pairwise(edges)],
        hovertemplate="%{customdata[0]} to %{customdata[1]}<br>%{y:,} values<extra></extra>",
    )  # fmt: skip
    figure.update_xaxes(title_text="Value")
    figure.update_yaxes(title_text="Values (log scale)", type="log", exponentformat="power", dtick=1)
    return figure
