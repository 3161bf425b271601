"""A finding's evidence as Plotly pictures: curves, bars, histograms."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import plotly.graph_objects as go

from dashboard import escape, words
from dashboard.figures import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION, base, log_ticks
from stethoscope.checks.findings import Bars, Curves, Histogram, Line

_CYCLE = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY)
_GROUPS = {"before": GREY, "after": GREEN}
_HEIGHT = 240
_MOST_BARS = 40


def picture(item: Curves | Bars | Histogram) -> go.Figure:
    """The figure of one piece of evidence."""
    if isinstance(item, Curves):
        return curves(item)
    return bars(item) if isinstance(item, Bars) else histogram(item)


def curves(item: Curves) -> go.Figure:
    """Lines over a common axis; curves of one group share a colour, NaN and infinity are crosses at the edge."""
    figure = base(_HEIGHT)
    groups = list(dict.fromkeys(line.group or line.name for line in item.lines))
    # One run's lines are told apart by their dashes, in one colour as in the charts.
    alone = len(groups) == 1 and len(item.lines) > 1
    finite = [y for line in item.lines for y in line.y if math.isfinite(y) and (y > 0 or not item.log_y)]
    top = max(finite, default=1.0)
    for line in item.lines:
        group = line.group or line.name
        colour = _GROUPS.get(group, _CYCLE[groups.index(group) % len(_CYCLE)])
        _line(figure, line, colour, line.name if alone else group, item, dashed=alone and line is not item.lines[0])
        bad = [x for x, y in zip(line.x, line.y, strict=False) if not math.isfinite(y)]
        if bad:
            figure.add_scatter(
                x=bad,
                y=[top] * len(bad),
                mode="markers",
                marker={"symbol": "x", "size": 9, "color": VERMILION},
                name="NaN or infinite",
                showlegend=False,
                hovertemplate=f"{escape.figure(line.name)}: NaN or infinite at %{{x}}<extra></extra>",
            )
    for mark in item.marks:
        figure.add_vline(x=mark.at, line={"color": VERMILION, "width": 1.5, "dash": "dash"})
        figure.add_annotation(
            x=mark.at, y=1, yref="paper", yanchor="bottom", showarrow=False, text=escape.figure(mark.label)
        )
    figure.update_xaxes(title_text=escape.figure(item.x_label))
    figure.update_yaxes(title_text=escape.figure(item.y_label), type="log" if item.log_y else "linear")
    if item.log_y and finite:
        figure.update_yaxes(log_ticks(min(finite), top))
    if len(groups) > 1 or alone:
        # Above what the marks say.
        figure.update_layout(showlegend=True, legend={"orientation": "h", "y": 1.14, "yanchor": "bottom", "x": 0})
        return figure.update_layout(margin_t=54, height=_HEIGHT + 20)
    return figure.update_layout(margin_t=34)


def _line(figure: go.Figure, line: Line, colour: str, group: str, item: Curves, *, dashed: bool) -> None:
    first = not any(trace.legendgroup == group for trace in figure.data)
    name = escape.figure(line.name)
    figure.add_scatter(
        x=list(line.x),
        y=list(line.y),
        mode="lines+markers" if len(line.x) < 30 else "lines",
        line={"color": colour, "width": 1.8, "dash": "dash" if dashed else "solid"},
        marker={"size": 4},
        name=escape.figure(group),
        legendgroup=group,
        showlegend=first,
        connectgaps=False,
        hovertemplate=f"{name}<br>{escape.figure(item.x_label)} %{{x}}<br>{escape.figure(item.y_label)} %{{y:.4g}}<extra></extra>",
    )


def bars(item: Bars) -> go.Figure:
    """Horizontal bars, one per name, with thresholds as dashed lines."""
    rows = list(zip(item.names, item.values, strict=False))[:_MOST_BARS]
    rows.reverse()
    positions = list(range(len(rows)))
    shown = [value if math.isfinite(value) else 0.0 for _, value in rows]
    figure = base(96 + 22 * len(rows))
    figure.add_bar(
        x=shown,
        y=positions,
        orientation="h",
        marker_color=BLUE,
        customdata=[[escape.figure(name), words.difference(value)] for name, value in rows],
        hovertemplate="%{customdata[0]}: %{customdata[1]}<extra></extra>",
    )
    for mark in item.marks:
        figure.add_vline(x=mark.at, line={"color": VERMILION, "width": 1.5, "dash": "dash"})
        at = math.log10(mark.at) if item.log and mark.at > 0 else mark.at
        figure.add_annotation(
            x=at, y=1, yref="paper", yanchor="bottom", showarrow=False, text=escape.figure(mark.label)
        )
    figure.update_yaxes(tickvals=positions, ticktext=[escape.figure(name, 30) for name, _ in rows])
    figure.update_xaxes(title_text=escape.figure(item.value_label), type="log" if item.log else "linear")
    if item.log:
        figure.update_xaxes(dtick=1)
    return figure.update_layout(margin_t=30)


def histogram(item: Histogram) -> go.Figure:
    """Counts between edges, with thresholds as dashed lines."""
    edges: Sequence[float] = item.edges
    figure = base(_HEIGHT, bargap=0.04)
    figure.add_bar(
        x=[(low + high) / 2 for low, high in itertools.pairwise(edges)],
        y=list(item.counts),
        width=[high - low for low, high in itertools.pairwise(edges)],
        marker_color=BLUE,
        customdata=[[words.given(low), words.given(high)] for low, high in itertools.pairwise(edges)],
        hovertemplate="%{customdata[0]} to %{customdata[1]}: %{y:,} values<extra></extra>",
    )
    for mark in item.marks:
        figure.add_vline(x=mark.at, line={"color": VERMILION, "width": 1.5, "dash": "dash"})
        figure.add_annotation(
            x=mark.at, y=1, yref="paper", yanchor="bottom", showarrow=False, text=escape.figure(mark.label)
        )
    figure.update_xaxes(title_text=escape.figure(item.x_label))
    figure.update_yaxes(title_text="Values (number)")
    return figure.update_layout(margin_t=30)
