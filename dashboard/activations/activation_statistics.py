"""Statistics over all rows of the data: a strip over the depth of the model, a table, and one layer's units."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from dashboard import escape, figures, panel, render, session, words
from dashboard.activations import activation_units
from dashboard.activations.activation_input import Input
from dashboard.behaviour.prediction_parts import out_of_memory
from dashboard.data import data_choice
from stethoscope.activations.layer_totals import LayerStatistics
from stethoscope.activations.reach import INPUT_TYPES, UnseenLayer
from stethoscope.activations.study import LayerActivations
from stethoscope.codec import answer_of
from stethoscope.jobs.protocol import JobState
from stethoscope.types import Status

_MOST_NAMED = 40
_ROWS_SHOWN = 12
_DWARFS = 10.0
"""An input that many times larger than every layer hides them in the picture."""


def show(given: Input, layers: Sequence[str]) -> None:
    """The view Statistics of the page Activations."""
    row = st.grid(3, min_column_width=150, vertical_alignment="bottom")
    rows = row.cell().number_input(
        "Rows, 0 for all",
        0,
        10_000_000,
        0,
        key="statistics-rows",
        bind="query-params",
        help="0: all rows of the data; else about so many, evenly spaced",
    )
    batch = row.cell().number_input("Batch size", 1, 4_096, 32, key="statistics-batch", bind="query-params")
    asked = int(rows) or (None if given.data is not None else 32)
    params = {"rows": asked, "batch_size": int(batch), "seed": 0, "times": True}
    with row.cell():
        panel.button("Run the statistics", lambda: given.job("activations", params), given.view)
    state = panel.state(
        "activations",
        given.view,
        "The whole data goes through the model once. Of every layer the worker keeps a few numbers for each unit: how large its outputs "
        "are, which units never react, which are stuck at the flat end of their activation, and which samples excite a unit most.",
    )
    if state is not None:
        _answer(given, state, layers)


def _answer(given: Input, state: JobState, layers: Sequence[str]) -> None:
    result = state.result
    if result is None:
        return
    if result.status is Status.OUT_OF_MEMORY:
        out_of_memory(state, result)
        return
    if result.status is not Status.OK:
        render.ending(state)
        if given.data is not None:
            data_choice.make_it_fit(result)
        return
    answer = answer_of(result, LayerActivations)
    found = answer.layers
    _verdict(answer)
    if not found:
        return
    st.plotly_chart(
        depth(found), config=figures.CONFIG, key="depth", alt="Mean and spread of each layer's output over the depth"
    )
    st.plotly_chart(
        strip(found), config=figures.CONFIG, key="strip", alt="Shares of dead and saturated units in each layer"
    )
    _table(found)
    chosen = next((one for path in layers for one in found if path in (one.path, one.layer)), None)
    if chosen is not None:
        activation_units.show(given, result, chosen)
    else:
        st.caption("Choose a layer, in the table or on the left, to see its histogram and its units.")
    _unreachable(answer.unreachable)
    _how(answer)


def _verdict(answer: LayerActivations) -> None:
    found = answer.layers
    dead = sum(one.dead_units or 0 for one in found)
    stuck = sum(one.saturated_units or 0 for one in found)
    broken = [one for one in found if one.nonfinite]
    over = f"over {words.plural(answer.rows, 'row')}"
    over += " of random input" if answer.source == "dummy" else ""
    if broken:
        render.verdict(
            "bad",
            "NaN or infinite",
            f"{words.plural(len(broken), 'layer')} put out NaN or infinite values, {escape.code(broken[0].path, 60)} first, {over}.",
        )
    elif dead or stuck:
        parts = [words.plural(dead, "unit") + " never react"] if dead else []
        parts += [words.plural(stuck, "unit") + " are always saturated"] if stuck else []
        render.verdict("careful", "Idle units", f"{' and '.join(parts)}, {over}.")
    else:
        render.verdict(
            "good", "All alive", f"No unit is dead or always saturated in {words.plural(len(found), 'layer')}, {over}."
        )


def depth(found: Sequence[LayerStatistics]) -> go.Figure:
    """Mean ± standard deviation of each layer's output, in the order in which layers are computed.

    Inputs that dwarf every layer (token ids) are left out: the table has their numbers.
    """
    names = [escape.figure(one.path, 60) for one in found]
    mean = np.array([_number(one.mean) for one in found])
    spread = np.array([_number(one.std) for one in found])
    extent = np.abs(mean) + spread
    fed = np.array([one.type in INPUT_TYPES for one in found], bool)
    if fed.any() and not fed.all():
        dwarfs = fed & (extent > _DWARFS * np.nanmax(np.append(extent[~fed], 0.0)))
        mean, spread = np.where(dwarfs, np.nan, mean), np.where(dwarfs, np.nan, spread)
    shown = ~np.isnan(mean)
    figure = figures.base(240, showlegend=False)
    at = np.arange(len(found))
    if len(found) <= figures.MAX_POINTS:
        figure.add_scatter(
            x=[*at[shown], *at[shown][::-1]],
            y=[*(mean + spread)[shown], *(mean - spread)[shown][::-1]],
            fill="toself",
            mode="none",
            fillcolor="rgba(0,114,178,0.18)",
            hoverinfo="skip",
        )
    figure.add_scatter(
        x=at,
        y=mean,
        mode="lines+markers",
        line={"color": figures.BLUE, "width": 1.5},
        marker={"size": 4},
        customdata=np.stack([np.array(names, object), spread.astype(object)], axis=1),
        hovertemplate="%{customdata[0]}<br>mean %{y:.4g}, standard deviation %{customdata[1]:.4g}<extra></extra>",
    )
    broken = [place for place, one in enumerate(found) if one.nonfinite]
    if broken:
        figure.add_scatter(
            x=broken,
            y=[0.0] * len(broken),
            mode="markers",
            marker={"symbol": "x", "size": 9, "color": figures.VERMILION},
            customdata=[names[place] for place in broken],
            hovertemplate="%{customdata}<br>NaN or infinite values<extra></extra>",
        )
    figure.update_yaxes(title_text="Mean ± standard deviation")
    figure.update_xaxes(title_text="Layer, in the order of computation", showticklabels=False)
    return figure


def strip(found: Sequence[LayerStatistics]) -> go.Figure:
    """Shares of each layer that are zero, dead and saturated, as colours over the depth; blank where that means nothing."""
    rows = {
        "zero values": [_number(one.zero_fraction) for one in found],
        "dead units": [_share(one.dead_units, one.units) for one in found],
        "saturated values": [_number(one.saturated_fraction) for one in found],
        "saturated units": [_share(one.saturated_units, one.units) for one in found],
    }
    names = [escape.figure(one.path, 60) for one in found]
    figure = figures.base(190)
    figure.add_heatmap(
        z=list(rows.values()),
        y=list(rows),
        x=list(range(len(found))),
        zmin=0.0,
        zmax=1.0,
        colorscale="Viridis",
        colorbar={"thickness": 10, "tickformat": ".0%", "outlinewidth": 0},
        customdata=[names] * len(rows),
        hovertemplate="%{customdata}<br>%{y}: %{z:.1%}<extra></extra>",
        hoverongaps=False,
        ygap=2,
    )
    figure.update_yaxes(autorange="reversed")
    if len(found) <= _MOST_NAMED:
        figure.update_xaxes(
            tickvals=list(range(len(found))),
            ticktext=[escape.figure(one.path.rsplit("/", 1)[-1], 14) for one in found],
            tickangle=-45,
        )
    else:
        figure.update_xaxes(title_text="Layer, in the order of computation", showticklabels=False)
    return figure


def _table(found: Sequence[LayerStatistics]) -> None:
    columns: dict[str, list[Any]] = {
        "Layer": [escape.clip(one.path, 120) for one in found],
        "Type": [escape.clip(one.type, 40) for one in found],
        "Shape": [words.shape(one.shape) for one in found],
        "Mean": [_said(one.mean) for one in found],
        "Std": [_said(one.std) for one in found],
        "Lowest": [_said(one.min) for one in found],
        "Highest": [_said(one.max) for one in found],
        "Zero": [_percent(one.zero_fraction) for one in found],
        "Dead units": [_of(one.dead_units, one.units) for one in found],
        "Saturated": [_percent(one.saturated_fraction) for one in found],
        "Saturated units": [_of(one.saturated_units, one.units) for one in found],
        "NaN or infinite": [words.count(one.nonfinite) if one.nonfinite else "" for one in found],
    }
    if any(one.time_s for one in found):
        columns["Time"] = [words.duration(one.time_s) if one.time_s else "" for one in found]
    paths = [one.layer or one.path for one in found]

    def picked() -> None:
        state = st.session_state.get("statistics-table") or {}
        rows = (state.get("selection") or {}).get("rows") or []
        if rows and rows[0] < len(paths):
            session.remember("layer", paths[rows[0]])

    st.dataframe(
        columns,
        hide_index=True,
        height="content" if len(found) <= _ROWS_SHOWN else 440,
        on_select=picked,
        selection_mode="single-row",
        key="statistics-table",
    )


def _unreachable(hidden: Sequence[UnseenLayer]) -> None:
    if not hidden:
        return
    with st.expander(f"{words.plural(len(hidden), 'layer')} cannot be seen"):
        st.dataframe(
            {
                "Layer": [escape.clip(one.path, 160) for one in hidden],
                "Why": [escape.clip(one.reason, 300) for one in hidden],
            },
            hide_index=True,
            height="content" if len(hidden) <= _ROWS_SHOWN else 380,
            column_config={"Why": st.column_config.TextColumn(width="large")},
        )


def _how(answer: LayerActivations) -> None:
    with st.expander("How this was done"):
        st.markdown(
            f"{words.plural(answer.rows, 'row')} of {escape.markdown(answer.source)} "
            f"(of {words.count(answer.rows_in_data)}) in "
            f"{words.plural(answer.batches, 'batch', 'batches')} of {words.count(answer.settings.batch_size)}. "
            "The sums were made while each output was still there; no activation was kept. A unit is dead if it is 0 for every row and at "
            "every position, for activations that can be; it is saturated if all its values lie at the flat end of its activation."
        )
        if answer.way:
            st.caption(escape.sentences(answer.way))


def _number(value: float | None) -> float:
    return float("nan") if value is None else value


def _share(units: int | None, of: int) -> float:
    return float("nan") if units is None or not of else units / of


def _said(value: float | None) -> str:
    return "" if value is None else words.significant(value)


def _percent(value: float | None) -> str:
    return "" if value is None else words.share(value, 1.0)


def _of(units: int | None, of: int) -> str:
    return "" if units is None else f"{words.count(units)} of {words.count(of)}"
