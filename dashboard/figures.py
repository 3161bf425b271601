"""Plotly pictures. Colours are Okabe–Ito, the rest follows the viewer's light or dark theme in the browser."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go
import streamlit as st

from dashboard import escape, words
from stethoscope.compare.consistency.report import ConsistencyTest, TwoRuns
from stethoscope.types import Layer

BLUE, ORANGE, GREEN, VERMILION = "#0072B2", "#E69F00", "#009E73", "#D55E00"
SKY, PURPLE, YELLOW, GREY = "#56B4E9", "#CC79A7", "#F0E442", "#8A8F98"
MEASURED, PREDICTED, LIMIT = BLUE, SKY, VERMILION
PASSED, FAILED = GREEN, VERMILION
INK = "#4d565e"
MAX_POINTS = 2_000
"""Points sent to a browser for one curve."""


def base(height: int, **layout: Any) -> go.Figure:
    """An empty figure with our margins; `height` in pixels."""
    margin = {"l": 8, "r": 16, "t": 8, "b": 8, "autoexpand": True}
    figure = go.Figure(layout={"height": height, "margin": margin, "showlegend": False, "bargap": 0.35})
    # Streamlit's own grey is too pale to read on white.
    ink = {} if st.context.theme.type == "dark" else {"tickfont_color": INK, "title_font_color": INK}
    if ink:
        figure.update_layout(font_color=INK)
    figure.update_xaxes(automargin=True, zeroline=False, **ink)
    figure.update_yaxes(automargin=True, zeroline=False, **ink)
    return figure.update_layout(**layout)


def log_ticks(low: float, high: float) -> dict[str, Any]:
    """Ticks of a logarithmic axis from `low` to `high`: powers of ten, or 1, 2 and 5 of them over less than three decades."""
    if low <= 0 or high >= 1000 * low:
        return {"dtick": 1, "exponentformat": "power"}
    powers = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1)
    values = [digit * 10.0**power for power in powers for digit in (1, 2, 5)]
    return {"tickvals": values, "ticktext": [f"{value:g}" for value in values]}


def limit_line(
    figure: go.Figure,
    at: float,
    text: str,
    *,
    side: Literal["left", "right"] = "right",
    below: bool = False,
    log: bool = False,
    width: float = 1.5,
) -> None:
    """A dashed line across, at a limit, with what it is.

    Args:
        figure: to draw in.
        at: the limit, in units of the axis.
        text: what it is.
        side: at which end of the line the text stands.
        below: whether the text stands under the line.
        log: whether the axis is logarithmic: there, texts are placed by their logarithm.
        width: of the line, in pixels.
    """
    figure.add_hline(y=at, line={"color": LIMIT, "width": width, "dash": "dash"})
    figure.add_annotation(
        x=0 if side == "left" else 1,
        xref="paper",
        xanchor=side,
        y=math.log10(at) if log else at,
        yanchor="top" if below else "bottom",
        showarrow=False,
        text=text,
        font={"color": LIMIT},
    )


def parameter_share(layers: Sequence[Layer], total: int, top: int = 10) -> go.Figure:
    """Horizontal bars: the layers that hold most of the parameters, and all others together."""
    ranked = sorted((layer for layer in layers if layer.parameters), key=lambda layer: -layer.parameters)
    rows = [(escape.figure(layer.path, 36), layer.parameters, escape.figure(layer.type, 36)) for layer in ranked[:top]]
    rest = sum(layer.parameters for layer in ranked[top:])
    if rest:
        rows.append((f"{len(ranked) - top:,} other layers", rest, "all other layers with parameters"))
    rows.reverse()
    bars = go.Bar(
        x=[number for _, number, _ in rows],
        y=list(range(len(rows))),
        orientation="h",
        marker_color=[GREY if rest and index == 0 else BLUE for index in range(len(rows))],
        text=[f"{words.share(number, total)}" for _, number, _ in rows],
        textposition="outside",
        cliponaxis=False,
        customdata=[[words.count(number), kind, name] for name, number, kind in rows],
        hovertemplate="%{customdata[2]}<br>%{customdata[1]}<br>%{customdata[0]} parameters, %{text} of the model<extra></extra>",
    )
    figure = base(86 + 26 * len(rows)).add_trace(bars)
    longest = max((number for _, number, _ in rows), default=1)
    # Positions, not names: two layers whose clipped names coincide keep a bar each.
    figure.update_yaxes(tickvals=list(range(len(rows))), ticktext=[name for name, _, _ in rows])
    figure.update_xaxes(title_text="Parameters (number)", range=[0, longest * 1.18])
    return figure


_FAR = 8


def memory(measured_bytes: int, predicted_bytes: int | None, limit_bytes: int) -> go.Figure:
    """Two thin bars, measured and predicted peak memory, against the limit.

    A prediction far beyond the limit is cut off; a limit far beyond the need lies outside, and an arrow says where.
    """
    need_bytes = max(measured_bytes, predicted_bytes or 0, 1)
    far = limit_bytes > _FAR * need_bytes
    view_bytes = 1.6 * need_bytes if far else min(max(limit_bytes, need_bytes), 2.5 * max(limit_bytes, measured_bytes))
    unit, divisor = ("GiB", 2**30) if view_bytes >= 2**30 else ("MiB", 2**20)
    rows = [("Predicted", predicted_bytes, PREDICTED)] if predicted_bytes else []
    rows.append(("Measured", measured_bytes, VERMILION if measured_bytes >= limit_bytes else MEASURED))
    figure = base(118 + 26 * (len(rows) - 1))
    for name, value, colour in rows:
        cut = (value or 0) > view_bytes
        figure.add_bar(
            x=[min(value or 0, 1.05 * view_bytes) / divisor],
            y=[name],
            orientation="h",
            marker_color=colour,
            text=[words.size(value or 0) + (" →" if cut else "")],
            textposition="auto",
            hovertemplate=f"{name} peak memory: {words.size(value or 0)}<extra></extra>",
        )
    if not far:
        figure.add_vline(x=limit_bytes / divisor, line={"color": LIMIT, "width": 2, "dash": "dash"})
    figure.add_annotation(
        x=1.05 * view_bytes / divisor if far else limit_bytes / divisor,
        y=1,
        yref="paper",
        yanchor="bottom",
        xanchor="right" if far or limit_bytes > 0.5 * view_bytes else "left",
        showarrow=False,
        text=f"limit {words.size(limit_bytes)}{' →' if far else ''}",
        font={"color": LIMIT},
    )
    figure.update_layout(margin_t=26)
    figure.update_xaxes(title_text=f"Peak memory ({unit})", range=[0, 1.05 * view_bytes / divisor])
    return figure


_SHORT = {
    "same-input-bitwise": "to the bit",
    "same-input-tolerance": "within tolerance",
    "same-after-others": "after other inputs",
    "batch-1-vs-n": "batch 1 against N",
    "batch-sizes": "several batch sizes",
    "batch-order": "another order",
    "batch-independence": "other rows replaced",
    "train-vs-inference": "training mode",
    "save-reload-outputs": "saved and loaded",
    "save-reload-weights": "weights, loaded",
}


def test_differences(tests: Sequence[ConsistencyTest], atol: float) -> go.Figure:
    """One dot per test: its largest absolute difference on a logarithmic axis, against the tolerance."""
    floor = min(atol, 1e-7) / 100
    figure = base(112 + 34 * len(tests))
    for test in reversed(tests):
        number = math.nan if test.max_abs_diff is None else test.max_abs_diff
        drawable = number if np.isfinite(number) else max(atol, 1.0) * 100
        shown = words.difference(number)
        figure.add_scatter(
            x=[max(drawable, floor)],
            y=[_SHORT.get(test.id, escape.figure(test.name, 24))],
            mode="markers+text",
            text=[f"  {shown}  "],
            # To the left where the line of the tolerance would go through the number.
            textposition="middle left" if atol / 100 < drawable <= atol else "middle right",
            marker={"color": PASSED if test.passed else FAILED, "size": 11, "symbol": "circle" if test.passed else "x"},
            hovertemplate=f"%{{y}}<br>largest difference: {shown}<extra></extra>",
            cliponaxis=False,
        )
    figure.add_vline(x=atol, line={"color": GREY, "width": 1.5, "dash": "dash"})
    figure.add_annotation(
        x=np.log10(atol), y=1, yref="paper", yanchor="bottom", showarrow=False, text=f"tolerance {words.given(atol)}"
    )
    figure.update_layout(margin_t=26)
    largest = max([atol, *(gap for one in tests if (gap := one.max_abs_diff) is not None and math.isfinite(gap))])
    figure.update_xaxes(
        title_text="Largest output difference (log scale)",
        type="log",
        range=[np.log10(floor) - 0.3, np.log10(largest) + 1.5],
        exponentformat="power",
        dtick=2,
    )
    return figure


def differs(pair: TwoRuns) -> bool:
    """Whether two recorded runs differ anywhere (NaN equals NaN)."""
    return not np.array_equal(np.asarray(pair.first), np.asarray(pair.other), equal_nan=True)


def two_runs(pair: TwoRuns, name: str) -> go.Figure:
    """The values of one output in two runs on the same input, element by element, joined where they differ."""
    left, right = np.asarray(pair.first), np.asarray(pair.other)
    figure = base(280, showlegend=True)
    index = np.arange(left.size)
    gaps_x = np.repeat(index.astype(float), 3)
    gaps_y = np.column_stack([left, right, np.full(left.size, np.nan)]).ravel()
    figure.add_scatter(
        x=gaps_x, y=gaps_y, mode="lines", line={"color": GREY, "width": 1}, hoverinfo="skip", showlegend=False
    )
    for values, label, colour in ((left, "first run", BLUE), (right, "most different run", ORANGE)):
        figure.add_scatter(
            x=index,
            y=values,
            mode="markers",
            name=label,
            marker={"color": colour, "size": 6},
            hovertemplate=f"element %{{x}}<br>{label}: %{{y:.6g}}<extra></extra>",
        )
    figure.update_layout(legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}, margin_t=28)
    figure.update_xaxes(title_text=f"Element of {escape.figure(name)}, the first {left.size:,}")
    figure.update_yaxes(title_text="Output value")
    return figure


def output_values(values: npt.NDArray[Any], name: str) -> go.Figure:
    """The output for one sample: bars for a short vector, a line for a longer one; NaN and infinities are marked."""
    flat = np.asarray(values, dtype=np.float64).ravel()
    step = max(1, -(-flat.size // MAX_POINTS))
    index, shown = np.arange(0, flat.size, step), flat[::step]
    finite = np.isfinite(shown)
    figure = base(260)
    hover = "element %{x}<br>value %{y:.4g}<extra></extra>"
    if flat.size <= 64:
        figure.add_bar(x=index[finite], y=shown[finite], marker_color=BLUE, hovertemplate=hover)
    else:
        figure.add_scatter(
            x=index,
            y=np.where(finite, shown, np.nan),
            mode="lines",
            line={"color": BLUE, "width": 1.5},
            hovertemplate=hover,
        )
    if not finite.all():
        names = [words.significant(float(value)) for value in shown[~finite]]
        figure.add_scatter(
            x=index[~finite],
            y=np.zeros(len(names)),
            mode="markers",
            text=names,
            marker={"color": VERMILION, "symbol": "x", "size": 10},
            hovertemplate="element %{x}<br>%{text}<extra></extra>",
        )
    every = f" (every {step:,}th of {flat.size:,})" if step > 1 else ""
    figure.update_xaxes(title_text=f"Element of {escape.figure(name)}{every}")
    figure.update_yaxes(title_text="Value")
    return figure


CONFIG: dict[str, Any] = {
    "displaylogo": False,
    "toImageButtonOptions": {"format": "svg"},
    "modeBarButtonsToRemove": ["select2d", "lasso2d"],
}
"""What every `st.plotly_chart` gets: no external links, download as SVG."""
