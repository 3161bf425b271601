"""Pictures of a sweep: peaks predicted and measured, and time per sample, over batch sizes; a curve for each open size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from dashboard import figures, words
from stethoscope.memory.points import Point
from stethoscope.types import Status

Points = Sequence[Point]
_CYCLE = (figures.BLUE, figures.VERMILION, figures.GREEN, figures.PURPLE, figures.ORANGE, figures.SKY)
_LEGEND = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}
_MOST_TICKS = 12


def memory(points: Points, limit_bytes: int | None) -> go.Figure:
    """Predicted and measured peaks over batch sizes, against the limit where it is near."""
    figure = figures.base(320)
    most = max(point.measured_peak_bytes or point.predicted_peak_bytes or 1 for point in points)
    near = limit_bytes is not None and limit_bytes < 3 * most
    unit, divisor = ("GiB", 2**30) if most >= 2**30 else ("MiB", 2**20)
    sizes = _sizes(points)
    for place, size in enumerate(sizes):
        own = [point for point in points if point.size == size]
        label = f"size {words.count(size)}, " if len(sizes) > 1 and size is not None else ""
        colour = _CYCLE[place % len(_CYCLE)]
        # What a calibrating run "predicted" is what it measured.
        predicted = [(one.batch_size, one.predicted_peak_bytes) for one in own if not one.calibration]
        measured = [(one.batch_size, one.measured_peak_bytes) for one in own]
        for name, peaks, dash in (("predicted", predicted, "dash"), ("measured", measured, "solid")):
            known = [(batch, peak) for batch, peak in peaks if peak]
            figure.add_scatter(
                x=[batch for batch, _ in known],
                y=[peak / divisor for _, peak in known],
                name=label + name,
                mode="lines+markers",
                showlegend=bool(known),
                line={"color": figures.PREDICTED if name == "predicted" and len(sizes) == 1 else colour, "dash": dash},
                customdata=[words.size(peak) for _, peak in known],
                hovertemplate=f"batch %{{x}}, {label}{name}: %{{customdata}}<extra></extra>",
            )
    failed = [
        (point.batch_size, point.predicted_peak_bytes)
        for point in points
        if point.status is not Status.OK and point.predicted_peak_bytes
    ]
    figure.add_scatter(
        x=[batch for batch, _ in failed],
        y=[peak / divisor for _, peak in failed],
        mode="markers",
        name="does not fit",
        marker={"symbol": "x", "size": 11, "color": figures.LIMIT},
        customdata=[words.size(peak) for _, peak in failed],
        hovertemplate="batch %{x} does not fit: %{customdata} expected<extra></extra>",
        showlegend=bool(failed),
    )
    if near and limit_bytes is not None:
        figures.limit_line(figure, limit_bytes / divisor, f"limit {words.size(limit_bytes)}", width=2)
    _batches(figure, points)
    figure.update_yaxes(title_text=f"Peak memory ({unit})", rangemode="tozero")
    return figure.update_layout(showlegend=True, legend=_LEGEND, margin_t=34)


def times(points: Points, knee: int | None) -> go.Figure:
    """Time per sample over batch sizes, with the batch beyond which little is won."""
    figure = figures.base(240)
    sizes = _sizes(points)
    for place, size in enumerate(sizes):
        own = [point for point in points if point.size == size]
        label = f"size {words.count(size)}" if size is not None else ""
        figure.add_scatter(
            x=[point.batch_size for point in own],
            y=[1000 * (point.time_per_sample_s or 0.0) for point in own],
            mode="lines+markers",
            name=label,
            line={"color": figures.GREEN if len(sizes) == 1 else _CYCLE[place % len(_CYCLE)]},
            customdata=[words.duration(point.time_per_sample_s or 0.0) for point in own],
            hovertemplate="batch %{x}: %{customdata} a sample<extra></extra>",
        )
    if knee:
        figure.add_vline(x=knee, line={"color": figures.GREY, "dash": "dash"})
        figure.add_annotation(
            x=knee, y=1, yref="paper", yanchor="bottom", showarrow=False, text=f"batch {words.count(knee)}"
        )
    _batches(figure, points)
    figure.update_yaxes(title_text="Time per sample (ms)", rangemode="tozero")
    return figure.update_layout(showlegend=len(sizes) > 1, legend=_LEGEND, margin_t=34 if len(sizes) > 1 else 30)


def _sizes(points: Points) -> list[int | None]:
    return list(dict.fromkeys(point.size for point in points))


def _batches(figure: go.Figure, points: Points) -> None:
    """Marks the batches that were swept, leaving out labels that would lie on each other."""
    swept = sorted({point.batch_size for point in points})
    shown: list[int] = []
    for size in reversed(swept):
        if not shown or shown[-1] - size > swept[-1] / 30:
            shown.append(size)
    ticks: dict[str, Any] = {"tickvals": shown, "ticktext": [words.count(size) for size in shown]}
    figure.update_xaxes(title_text="Batch size", **(ticks if len(shown) <= _MOST_TICKS else {}))
