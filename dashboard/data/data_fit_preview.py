"""One row before and after the steps, with the values of all rows that were read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go
import streamlit as st

from dashboard import escape, figures, words
from stethoscope.evidence.data_fit.report import DataFit, RowShown
from stethoscope.types import JobResult

_CHANNELS = (1, 3, 4)
_SMALL_PX = 240
_MOST_BARS = 64


def draw(result: JobResult, found: DataFit) -> None:
    """A picture of each input before and after, side by side."""
    if not found.as_fed:
        return
    st.markdown("**A row, before and after**" if found.steps else "**A row, as it is fed**")
    ranges = {side.name: side.expects.range for side in found.inputs}
    for place, fed in enumerate(found.as_fed):
        if len(found.as_fed) > 1:
            st.markdown(f"{escape.code(fed.name, 60)}")
        columns = iter(st.columns(2))
        if found.steps:
            with next(columns):
                _side("Before", fed.before, result, f"{place}-Before", None)
        with next(columns):
            _side("As fed", fed, result, f"{place}-As fed", ranges[fed.name])


def _side(title: str, side: RowShown, result: JobResult, key: str, expected: tuple[float, float] | None) -> None:
    span = "" if side.min is None or side.max is None else f", {side.min:,.4g} … {side.max:,.4g}"
    shape = " × ".join(words.count(size) for size in side.row_shape or ()) or "one value"
    st.caption(f"{title}: {shape}, {escape.markdown(side.dtype, 20)}{escape.markdown(span)}")
    path = result.files.get(side.file) if side.file else None
    if path is not None and path.exists():
        _row(np.load(path, allow_pickle=False), side, key)
    if side.histogram.counts:
        figure = histogram(side.histogram.edges, side.histogram.counts, expected)
        st.plotly_chart(
            figure, config=figures.CONFIG, key=f"fit-values-{key}", alt=f"{title}: how often each value occurs"
        )


def _row(row: npt.NDArray[Any], side: RowShown, key: str) -> None:
    if row.dtype.kind in "US":
        text = " ".join(str(value) for value in row.reshape(-1)[:50])
        st.code(text[:500] or "(empty)", language=None, wrap_lines=True)
        return
    image = as_image(row, side.min, side.max)
    if image is not None:
        # Small pictures are drawn larger, pixel by pixel.
        times = max(1, _SMALL_PX // max(image.shape[:2]))
        st.image(np.repeat(np.repeat(image, times, 0), times, 1))
    elif row.size:
        st.plotly_chart(_values(row), config=figures.CONFIG, key=f"fit-row-{key}", alt="The row's values")


def as_image(row: npt.NDArray[Any], low: float | None, high: float | None) -> npt.NDArray[np.uint8] | None:
    """A row as (height, width[, 3 or 4]) uint8, its least value black and its largest white; None where it is no picture."""
    if row.ndim == 3 and row.shape[-1] not in _CHANNELS and row.shape[0] in _CHANNELS:
        row = row.transpose(1, 2, 0)
    if row.ndim == 3 and row.shape[-1] == 1:
        row = row[..., 0]
    picture = row.ndim == 3 and row.shape[-1] in (3, 4)
    if not picture and not (row.ndim == 2 and min(row.shape) >= 8):
        return None
    if row.dtype == np.uint8:
        return np.asarray(row)
    least, most = (low or 0.0), (high if high is not None else 1.0)
    with np.errstate(invalid="ignore"):
        scaled = np.nan_to_num((row.astype("float64") - least) / ((most - least) or 1.0), posinf=1.0, neginf=0.0)
    return np.asarray(np.round(scaled.clip(0, 1) * 255), np.uint8)


def _values(row: npt.NDArray[Any]) -> go.Figure:
    """Bars for few values, lines over time for more."""
    series = row.reshape(len(row), -1) if row.ndim > 1 else row.reshape(-1, 1)
    figure = figures.base(180)
    colours = (figures.BLUE, figures.ORANGE, figures.GREEN, figures.PURPLE)
    for channel in range(min(series.shape[1], len(colours))):
        values = series[:, channel].astype("float64")
        if len(values) <= _MOST_BARS and series.shape[1] == 1:
            figure.add_bar(x=np.arange(len(values)), y=values, marker_color=colours[channel])
        else:
            figure.add_scatter(
                x=np.arange(len(values)), y=values, mode="lines", line={"color": colours[channel], "width": 1.2}
            )
    figure.update_xaxes(title_text="Place in the row")
    figure.update_yaxes(title_text="Value")
    return figure


def histogram(edges: Sequence[float], counts: Sequence[float], span: Sequence[float] | None) -> go.Figure:
    """How often values occur, with the range that the model expects shaded.

    Args:
        edges: of the bins; one more than counts.
        counts: values in each bin.
        span: least and largest value expected, None where the file does not say.
    """
    figure = figures.base(160)
    left, right = np.asarray(edges[:-1], "float64"), np.asarray(edges[1:], "float64")
    figure.add_bar(
        x=(left + right) / 2,
        y=list(counts),
        width=right - left,
        marker_color=figures.BLUE,
        hovertemplate="%{x:.4g}: %{y:,} values<extra></extra>",
    )
    if span is not None:
        figure.add_vrect(x0=span[0], x1=span[1], fillcolor=figures.GREEN, opacity=0.12, line_width=0, layer="below")
    figure.update_layout(bargap=0)
    figure.update_xaxes(title_text="Value" if span is None else "Value (shaded: expected)")
    figure.update_yaxes(title_text="Values", rangemode="tozero")
    return figure
