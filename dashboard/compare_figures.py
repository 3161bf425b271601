"""Pictures of runs beside each other: parallel coordinates of what they were given and reached, and one against another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from dashboard import escape, figures
from stethoscope.runs.axes import Axis

CYCLE = (figures.BLUE, figures.ORANGE, figures.GREEN, figures.PURPLE, figures.SKY, figures.VERMILION, figures.YELLOW)
_MOST_GROUPS = len(CYCLE)
_JITTER = 0.16
_LONG_TICK = 16
_MOST_TICKS = 14


class Column(NamedTuple):
    """One parameter or metric as an axis of a picture."""

    title: str
    axis: Axis


def parallel(columns: Sequence[Column], colour: Column, *, low_is_good: bool) -> go.Figure:
    """One line per run through all columns, good ones the most visible. Axes can be dragged, and brushed to pick runs."""
    dark = st.context.theme.type == "dark"
    figure = figures.base(420)
    figure.add_parcoords(
        dimensions=[_dimension(one) for one in columns],
        line={
            "color": colour.axis.position,
            "colorscale": "Cividis",
            # Cividis goes from dark blue to yellow; yellow is what shows on dark, blue on white.
            "reversescale": dark == low_is_good,
            "cmin": colour.axis.low,
            "cmax": colour.axis.high if colour.axis.high > colour.axis.low else colour.axis.low + 1,
            "showscale": True,
            "colorbar": {
                "title": {"text": escape.figure(colour.title, 28), "side": "right"},
                "thickness": 12,
                "tickvals": [place for place, _ in colour.axis.ticks],
                "ticktext": [escape.figure(text, _LONG_TICK) for _, text in colour.axis.ticks],
            },
        },
        unselected={"line": {"opacity": 0.06}},
        labelfont={"size": 13},
        tickfont={"size": 12},
        labelangle=-20 if len(columns) > 6 else 0,
    )
    return figure.update_layout(margin={"l": 64, "r": 24, "t": 84 if len(columns) > 6 else 48, "b": 16})


def _dimension(one: Column) -> dict[str, object]:
    ticks = one.axis.ticks
    if len(ticks) > _MOST_TICKS and one.axis.kind == "name":
        ticks = ticks[:: -(-len(ticks) // _MOST_TICKS)]
    if one.axis.kind != "name":
        # Plotly draws the axis from its first tick to its last only.
        ends = [(place, "") for place in (one.axis.low, one.axis.high) if place not in {at for at, _ in ticks}]
        ticks = tuple(sorted([*ticks, *ends]))
    return {
        "label": escape.figure(one.title, 22),
        "values": one.axis.position,
        "range": [one.axis.low, one.axis.high],
        "tickvals": [place for place, _ in ticks],
        "ticktext": [escape.figure(text, _LONG_TICK) for _, text in ticks],
    }


def scatter(
    across: Column, up: Column, runs: Sequence[str], groups: Sequence[str], said: Sequence[str], best: int | None
) -> go.Figure:
    """One point per run: a column against another, coloured by group, the best run ringed.

    Args:
        across: the horizontal axis.
        up: the vertical axis.
        runs: names, for the hover.
        groups: names; more than seven share one colour.
        said: what both values are, for the hover.
        best: which run is ringed.
    """
    figure = figures.base(340)
    x = across.axis.position.copy()
    if across.axis.kind == "name":
        # Runs with the same name beside each other: the same picture each time, so no random numbers.
        x += _JITTER * (2 * np.modf(np.arange(len(x)) * 0.6180339887)[0] - 1)
    names = sorted(set(groups))
    grouped = 1 < len(names) <= _MOST_GROUPS
    for place, name in enumerate(names if grouped else [""]):
        own = [at for at, group in enumerate(groups) if not grouped or group == name]
        figure.add_scatter(
            x=x[own], y=up.axis.position[own], mode="markers", name=escape.figure(name or "no group", 32),
            marker={"size": 8 if len(runs) <= 200 else 5, "color": CYCLE[place], "opacity": 0.8},
            customdata=[[escape.figure(runs[at], 80), said[at]] for at in own],
            hovertemplate="%{customdata[0]}<br>%{customdata[1]}<extra></extra>", showlegend=grouped,
        )  # fmt: skip
    if best is not None:
        figure.add_scatter(
            x=[x[best]], y=[up.axis.position[best]], mode="markers+text", text=["best"], textposition="top center",
            marker={"size": 15, "symbol": "circle-open", "line": {"width": 2}, "color": figures.VERMILION},
            hoverinfo="skip", showlegend=False,
        )  # fmt: skip
    _axis(figure.update_xaxes, across)
    _axis(figure.update_yaxes, up)
    legend = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}
    return figure.update_layout(showlegend=grouped, legend=legend, margin_t=34 if grouped else 16)


def _axis(update: object, one: Column) -> None:
    ticks = one.axis.ticks
    margin = 0.0 if one.axis.kind == "name" else 0.06 * (one.axis.high - one.axis.low)
    assert callable(update)
    update(
        title_text=escape.figure(one.title, 48) + (" (log scale)" if one.axis.kind == "log" else ""),
        range=[one.axis.low - margin, one.axis.high + margin],
        tickvals=[place for place, _ in ticks],
        ticktext=[escape.figure(text, _LONG_TICK) for _, text in ticks],
    )


def hover(pairs: Sequence[tuple[str, object]]) -> str:
    """Names and values in one safe line for a hover."""
    return ", ".join(f"{escape.figure(name, 32)} {_said(value)}" for name, value in pairs)


def _said(value: object) -> str:
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else f"{value:.6g}"
    return "none" if value is None else escape.figure(value, 40)
