"""A picture of how long models take: the median as a dot, p90 and p99 as whiskers, on one logarithmic scale."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from dashboard import escape, figures, words
from stethoscope.compare.latency_row import Row

COLOURS: Mapping[str, str] = {"TensorFlow": figures.ORANGE, "ONNX Runtime": figures.BLUE, "LiteRT": figures.GREEN}
_ROW_PX, _HEAD_PX, _AXIS_PX = 27, 30, 96
_HEAD = 0.9
"""Of a row's height, for the line that says which batch size follows."""


def by_batch(groups: Mapping[int, Sequence[Row]], titles: Mapping[tuple[str, str], str]) -> go.Figure:
    """One line for each model and call, grouped by batch size; the fastest of each group has a filled diamond.

    Args:
        groups: rows of an answer that have times, by batch size.
        titles: what to call each, by role and call. Hostile.
    """
    height = _AXIS_PX + sum(_HEAD_PX + _ROW_PX * len(rows) for rows in groups.values())
    figure = figures.base(height)
    times = [one for rows in groups.values() for row in rows for one in (row.p50_s, row.p99_s or row.p90_s) if one]
    low, high = min(times) / 1.4, max(times) * 1.4
    place, ticks, names = 0.0, [], []
    for size, rows in groups.items():
        figure.add_annotation(
            x=0,
            xref="paper",
            xanchor="left",
            y=place,
            showarrow=False,
            yanchor="middle",
            text=f"<b>{words.plural(size, 'row')} a call</b>",
        )
        place += _HEAD
        best = min(row.p50_s for row in rows if row.p50_s)
        for row in rows:
            _line(figure, row, place, titles[row.role, row.call], is_best=row.p50_s == best and len(rows) > 1)
            ticks.append(place)
            names.append(escape.figure(titles[row.role, row.call], 30))
            place += 1
        place += 0.2
    figure.update_yaxes(tickvals=ticks, ticktext=names, range=[place - 0.4, -0.6], showgrid=False)
    figure.update_xaxes(
        title_text="Time of one call (logarithmic)",
        type="log",
        range=[math.log10(low), math.log10(high)],
        **_ticks(low, high),
    )
    _legend(figure, {_runtime(row) for rows in groups.values() for row in rows})
    return figure


def _ticks(low_s: float, high_s: float) -> dict[str, Any]:
    """Powers of ten, or 1, 2 and 5 of them over less than three decades, each with its unit."""
    digits = (1, 2, 5) if high_s < 1000 * low_s else (1,)
    powers = range(math.floor(math.log10(low_s)), math.ceil(math.log10(high_s)) + 1)
    values = [digit * 10.0**power for power in powers for digit in digits]
    return {"tickvals": values, "ticktext": [_round(value) for value in values]}


def _round(seconds: float) -> str:
    value, unit = (
        (seconds * 1e6, "µs") if seconds < 0.999e-3 else (seconds * 1e3, "ms") if seconds < 0.999 else (seconds, "s")
    )
    return f"{value:,.3g} {unit}"


def _line(figure: go.Figure, row: Row, place: float, title: str, *, is_best: bool) -> None:
    colour = COLOURS.get(_runtime(row), figures.GREY)
    p50 = row.p50_s or 0.0
    for slow_s, width in ((row.p99_s, 1.5), (row.p90_s, 4.5)):
        if slow_s:
            figure.add_scatter(
                x=[p50, slow_s],
                y=[place, place],
                mode="lines",
                line={"color": colour, "width": width},
                hoverinfo="skip",
                showlegend=False,
            )
    said = " · ".join(
        f"{name} {words.duration(time_s)}"
        for name, time_s in (("p50", row.p50_s), ("p90", row.p90_s), ("p99", row.p99_s))
        if time_s
    )
    figure.add_scatter(
        x=[p50],
        y=[place],
        mode="markers",
        cliponaxis=False,
        showlegend=False,
        marker={"color": colour, "size": 14 if is_best else 10, "symbol": "diamond" if is_best else "circle"},
        hovertemplate=f"{escape.figure(title)}<br>{escape.figure(row.runtime)}<br>{said}<br>{row.calls:,} calls"
        f"{'<br>the fastest' if is_best else ''}<extra></extra>",
    )


def _legend(figure: go.Figure, runtimes: set[str]) -> None:
    for name in sorted(runtimes):
        figure.add_scatter(
            x=[None],
            y=[None],
            mode="markers",
            name=escape.figure(name),
            showlegend=True,
            marker={"color": COLOURS.get(name, figures.GREY), "size": 10},
        )
    figure.update_layout(
        showlegend=True,
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 1, "xanchor": "right"},
        margin_t=30,
    )


def _runtime(row: Row) -> str:
    """Without its version."""
    return row.runtime.rpartition(" ")[0]
