"""Plotly pictures of activations: one map large, values of units, curves over time, matrices, points."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go

from dashboard import escape, figures, words

Array = npt.NDArray[Any]
AMOUNT = [
    [place / 9, colour]
    for place, colour in enumerate(
        ["#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725"]
    )
]
AROUND_ZERO = [
    [place / 8, colour]
    for place, colour in enumerate(
        ["#084f7d", "#0072B2", "#4c9ccb", "#99c6e2", "#f4f4f4", "#eebf9f", "#e29257", "#D55E00", "#8f3f00"]
    )
]
MOST_CELLS = 60_000
_MOST_TICKS = 40


def matrix(
    values: Array,
    *,
    down: str,
    across: str,
    value: str,
    around_zero: bool = False,
    down_names: Sequence[str] | None = None,
    across_names: Sequence[str] | None = None,
    square: bool = False,
    height: int = 380,
    limits: tuple[float, float] | None = None,
) -> go.Figure:
    """A matrix as colours, first row at the top; NaN and infinities stay blank.

    Args:
        values: (rows, columns).
        down: what rows are, in the singular.
        across: what columns are.
        value: what the numbers are.
        around_zero: colours about 0.
        down_names: of the rows; hostile text.
        across_names: of the columns.
        square: cells as high as wide.
        height: of the figure in pixels.
        limits: lowest and highest colour.
    """
    rows, columns = _steps(values.shape)
    shown = np.asarray(values[::rows, ::columns], np.float64)
    low, high = limits or extent(shown, around_zero=around_zero)
    figure = figures.base(height)
    figure.add_heatmap(
        z=np.where(np.isfinite(shown), shown, np.nan),
        x=np.arange(shown.shape[1]) * columns,
        y=np.arange(shown.shape[0]) * rows,
        zmin=low,
        zmax=high,
        colorscale=AROUND_ZERO if around_zero else AMOUNT,
        colorbar={"thickness": 10, "title": {"text": value, "side": "right"}, "outlinewidth": 0},
        customdata=_names(shown.shape, rows, columns, down_names, across_names),
        hovertemplate=f"{down} %{{customdata[0]}}<br>{across} %{{customdata[1]}}<br>{value} %{{z:.4g}}<extra></extra>",
        hoverongaps=False,
    )
    figure.update_yaxes(title_text=down.capitalize(), autorange="reversed", **_ticks(down_names))
    figure.update_xaxes(title_text=across.capitalize(), **_ticks(across_names))
    if square:
        figure.update_yaxes(scaleanchor="x", constrain="domain")
        figure.update_xaxes(constrain="domain")
    return figure


def extent(values: Array, *, around_zero: bool) -> tuple[float, float]:
    """Lowest and highest finite value; the same on both sides of 0 where asked."""
    finite = values[np.isfinite(values)]
    if not finite.size:
        return 0.0, 1.0
    low, high = float(finite.min()), float(finite.max())
    if around_zero:
        most = max(abs(low), abs(high)) or 1.0
        return -most, most
    return low, high if high > low else low + 1.0


def units(series: Mapping[str, Array], *, across: str, height: int = 300) -> go.Figure:
    """Values of units: bars for one short vector, else lines; several side by side in colours. NaN and infinities are marked."""
    figure = figures.base(height, showlegend=len(series) > 1)
    colours = (figures.BLUE, figures.ORANGE, figures.GREEN, figures.PURPLE, figures.SKY, figures.VERMILION)
    for place, (name, values) in enumerate(series.items()):
        flat = np.asarray(values, np.float64).ravel()
        step = max(1, math.ceil(flat.size / figures.MAX_POINTS))
        at, shown = np.arange(0, flat.size, step), flat[::step]
        finite = np.isfinite(shown)
        label, colour = escape.figure(name, 40), colours[place % len(colours)]
        hover = f"{across} %{{x}}<br>value %{{y:.4g}}<extra>{label if len(series) > 1 else ''}</extra>"
        if flat.size <= 128:
            figure.add_bar(
                x=at, y=np.where(finite, shown, np.nan), name=label, marker_color=colour, hovertemplate=hover
            )
        else:
            figure.add_scatter(
                x=at,
                y=np.where(finite, shown, np.nan),
                mode="lines",
                name=label,
                line={"color": colour, "width": 1.3},
                hovertemplate=hover,
            )
        if not finite.all():
            figure.add_scatter(
                x=at[~finite],
                y=np.zeros(int((~finite).sum())),
                mode="markers",
                showlegend=False,
                text=[words.significant(float(one)) for one in shown[~finite]],
                marker={"color": figures.VERMILION, "symbol": "x", "size": 9},
                hovertemplate="%{x}: %{text}<extra></extra>",
            )
    figure.update_layout(legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}, bargap=0.15)
    if len(series) > 1:
        figure.update_layout(margin_t=30)
    figure.update_xaxes(title_text=across.capitalize())
    figure.update_yaxes(title_text="Value")
    return figure


def histogram(edges: Sequence[float], counts: Sequence[int], *, height: int = 220) -> go.Figure:
    """How often values fall into each interval."""
    left, right = np.asarray(edges[:-1], np.float64), np.asarray(edges[1:], np.float64)
    figure = figures.base(height, bargap=0.0)
    figure.add_bar(
        x=(left + right) / 2,
        y=list(counts),
        width=right - left,
        marker_color=figures.BLUE,
        customdata=np.stack([left, right], axis=1),
        hovertemplate="%{customdata[0]:.4g} to %{customdata[1]:.4g}<br>%{y:,} values<extra></extra>",
    )
    figure.update_xaxes(title_text="Value")
    figure.update_yaxes(title_text="Values (number)")
    return figure


def bars(names: Sequence[str], values: Array, *, value: str, most: int = 30) -> go.Figure:
    """The largest of signed values as horizontal bars, coloured by their sign."""
    order = np.argsort(-np.abs(np.nan_to_num(values)), kind="stable")[:most][::-1]
    shown = values[order]
    figure = figures.base(90 + 22 * len(order))
    figure.add_bar(
        x=shown,
        y=np.arange(len(order)),
        orientation="h",
        marker_color=[figures.VERMILION if one >= 0 else figures.BLUE for one in shown],
        hovertemplate="%{customdata}<br>%{x:.4g}<extra></extra>",
        customdata=[escape.figure(names[place], 60) for place in order],
    )
    figure.update_yaxes(tickvals=list(range(len(order))), ticktext=[escape.figure(names[place], 28) for place in order])
    figure.update_xaxes(title_text=value, zeroline=True, zerolinecolor=figures.GREY)
    return figure


def _steps(shape: Sequence[int]) -> tuple[int, int]:
    rows = columns = 1
    while math.ceil(shape[0] / rows) * math.ceil(shape[1] / columns) > MOST_CELLS:
        if shape[0] / rows > shape[1] / columns:
            rows += 1
        else:
            columns += 1
    return rows, columns


def _names(
    shape: Sequence[int], rows: int, columns: int, down: Sequence[str] | None, across: Sequence[str] | None
) -> list[list[tuple[str, str]]]:
    left = [_called(place * rows, down) for place in range(shape[0])]
    top = [_called(place * columns, across) for place in range(shape[1])]
    return [[(one, other) for other in top] for one in left]


def _called(place: int, names: Sequence[str] | None) -> str:
    return escape.figure(names[place], 40) if names is not None and place < len(names) else f"{place:,}"


def _ticks(names: Sequence[str] | None) -> dict[str, Any]:
    if names is None or len(names) > _MOST_TICKS:
        return {}
    return {"tickvals": list(range(len(names))), "ticktext": [escape.figure(name, 16) for name in names]}
