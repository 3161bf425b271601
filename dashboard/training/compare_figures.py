"""A picture of runs: what they were given or reached against another, one point per run."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from dashboard import escape, figures
from dashboard.training.parallel_view import Column

CYCLE = (figures.BLUE, figures.ORANGE, figures.GREEN, figures.PURPLE, figures.SKY, figures.VERMILION, figures.YELLOW)
_MOST_GROUPS = len(CYCLE)
_JITTER = 0.16
_LONG_TICK = 16


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
            x=x[own],
            y=up.axis.position[own],
            mode="markers",
            name=escape.figure(name or "no group", 32),
            marker={"size": 8 if len(runs) <= 200 else 5, "color": CYCLE[place], "opacity": 0.8},
            customdata=[[escape.figure(runs[at], 80), said[at]] for at in own],
            hovertemplate="%{customdata[0]}<br>%{customdata[1]}<extra></extra>",
            showlegend=grouped,
        )
    if best is not None:
        figure.add_scatter(
            x=[x[best]],
            y=[up.axis.position[best]],
            mode="markers+text",
            text=["best"],
            textposition="top center",
            marker={"size": 15, "symbol": "circle-open", "line": {"width": 2}, "color": figures.VERMILION},
            hoverinfo="skip",
            showlegend=False,
        )
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
