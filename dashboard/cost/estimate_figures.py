"""Pictures of estimated memory: its parts stacked by batch size, and the bytes alive over the order of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from dashboard import escape, figures, words
from stethoscope.memory.estimate import Estimate, Moment, Part
from stethoscope.memory.growth import Growth
from stethoscope.memory.points import Point

PARTS: Mapping[Part, tuple[str, str]] = {
    "weights": ("weights", figures.ORANGE),
    "live": ("alive together", figures.BLUE),
    "workspace": ("workspace", figures.PURPLE),
    "outputs": ("outputs kept", figures.GREEN),
    "input": ("input", figures.SKY),
    "pool": ("kept by TensorFlow's pool", figures.YELLOW),
    "runtime": ("the framework", figures.GREY),
}
"""What each part is called, and its colour."""


def parts(estimates: Sequence[Estimate], points: Sequence[Point] = ()) -> go.Figure:
    """A stacked bar for each estimate, and a mark where a run of that batch was measured."""
    figure = figures.base(320, barmode="stack")
    unit, divisor = _unit([one.peak_bytes for one in estimates])
    names = [_name(one) for one in estimates]
    for part, (title, colour) in PARTS.items():
        sizes = [one.parts()[part] for one in estimates]
        if any(sizes):
            figure.add_bar(
                x=names,
                y=[size / divisor for size in sizes],
                name=title,
                marker_color=colour,
                customdata=[words.size(size) for size in sizes],
                hovertemplate=f"%{{x}}<br>{title}: %{{customdata}}<extra></extra>",
            )
    measured = {
        (point.batch_size, point.call, point.size): point.measured_peak_bytes
        for point in points
        if point.measured_peak_bytes
    }
    known = [(_name(one), measured.get((one.batch_size, one.call, one.size))) for one in estimates]
    found = [(name, size) for name, size in known if size is not None]
    if found:
        figure.add_scatter(
            x=[name for name, _ in found],
            y=[size / divisor for _, size in found],
            mode="markers",
            name="measured",
            marker={"symbol": "diamond", "size": 11, "color": figures.VERMILION},
            customdata=[words.size(size) for _, size in found],
            hovertemplate="%{x}<br>measured: %{customdata}<extra></extra>",
        )
    figure.update_xaxes(type="category", title_text="Batch size")
    figure.update_yaxes(title_text=f"Peak memory ({unit})", rangemode="tozero")
    return figure.update_layout(
        showlegend=True, legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}, margin_t=34
    )


def over_sizes(growth: Growth) -> go.Figure:
    """The estimated peak over sizes of the open dimensions."""
    figure = figures.base(240)
    unit, divisor = _unit([point.peak_bytes for point in growth.points])
    figure.add_scatter(
        x=[point.size for point in growth.points],
        y=[point.peak_bytes / divisor for point in growth.points],
        mode="lines+markers",
        line={"color": figures.BLUE},
        customdata=[words.size(point.peak_bytes) for point in growth.points],
        hovertemplate="%{x}: %{customdata}<extra></extra>",
    )
    figure.update_xaxes(title_text="Length or image size", tickvals=[point.size for point in growth.points])
    figure.update_yaxes(title_text=f"Peak memory ({unit})", rangemode="tozero")
    return figure


def timeline(estimate: Estimate) -> go.Figure:
    """The bytes alive while each operation runs; the peak is marked with its layer."""
    moments = estimate.timeline
    figure = figures.base(280)
    if not moments:
        return figure
    sizes = [moment.live_bytes for moment in moments]
    unit, divisor = _unit(sizes)
    figure.add_scatter(
        x=list(range(len(moments))),
        y=[size / divisor for size in sizes],
        mode="lines",
        fill="tozeroy",
        line={"color": figures.BLUE, "shape": "hv"},
        customdata=[
            [escape.figure(_where(moment), 60), words.size(moment.live_bytes), _alive(moment)] for moment in moments
        ],
        hovertemplate="%{customdata[0]}<br>%{customdata[1]} alive%{customdata[2]}<extra></extra>",
    )
    top = max(range(len(sizes)), key=sizes.__getitem__)
    figure.add_scatter(
        x=[top],
        y=[sizes[top] / divisor],
        mode="markers",
        marker={"size": 10, "color": figures.VERMILION},
        hoverinfo="skip",
    )
    figure.add_annotation(
        x=top,
        y=sizes[top] / divisor,
        text=escape.figure(_where(moments[top]), 40),
        showarrow=False,
        yanchor="bottom",
        yshift=8,
        xanchor="right" if top > len(sizes) / 2 else "left",
    )
    figure.update_xaxes(title_text="Operations in the order they run", showticklabels=False)
    figure.update_yaxes(title_text=f"Alive ({unit})", range=[0, 1.15 * max(sizes) / divisor or 1])
    return figure


def _where(moment: Moment) -> str:
    return moment.layer or moment.operation


def _alive(moment: Moment) -> str:
    return "".join(f"<br>{escape.figure(name, 40)}: {words.size(size)}" for name, size in moment.largest)


def _name(estimate: Estimate) -> str:
    size = "" if estimate.size is None else f" × {words.count(estimate.size)}"
    return f"{words.count(estimate.batch_size)}{size}"


def _unit(sizes: Sequence[int]) -> tuple[str, int]:
    return ("GiB", 2**30) if max(sizes, default=0) >= 2**30 else ("MiB", 2**20)
