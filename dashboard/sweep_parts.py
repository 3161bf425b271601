"""How memory and time grow with the batch: predicted and measured, the knee, and the largest batch that fits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from dashboard import cards, escape, figures, render, words
from stethoscope.jobs.state import JobState
from stethoscope.types import Status


def answer(state: JobState, limit_bytes: int, command: str) -> None:
    """Everything about a finished sweep."""
    assert state.result is not None
    value = state.result.value
    if state.result.status is not Status.OK:
        render.ending(state)
    points: Sequence[Mapping[str, Any]] = value.get("points") or ()
    if not points:
        return
    _facts(value, points)
    st.plotly_chart(
        memory(points, limit_bytes), config=figures.CONFIG, key="sweep-memory", alt="Peak memory by batch size"
    )
    timed = [point for point in points if point.get("time_per_sample_s")]
    if len(timed) > 1:
        figure = times(timed, (value.get("knee") or {}).get("batch_size"))
        st.plotly_chart(figure, config=figures.CONFIG, key="sweep-time", alt="Time per sample by batch size")
    st.dataframe(_table([*points, *(value.get("checks") or ())]), hide_index=True)
    with st.expander("How this was done"):
        rows = ", ".join(words.count(int(size)) for size in value.get("calibrated_at") or ())
        st.markdown(
            f"Batches of {rows or 'one size'} were run first to calibrate; the prediction for each larger batch was made before it "
            "ran. A batch that is certain not to fit the limit is not started. Random input, eight rows repeated."
        )
        st.markdown("The same from the command line:")
        st.code(command, language="bash", wrap_lines=True)


def _facts(value: Mapping[str, Any], points: Sequence[Mapping[str, Any]]) -> None:
    largest, knee = value.get("largest_batch"), (value.get("knee") or {}).get("batch_size")
    errors = [
        abs(point["error_fraction"])
        for point in points
        if point.get("error_fraction") is not None and not point["calibration"]
    ]
    between = "—"
    if largest:
        low, high = int(largest["low"]), int(largest["high"])
        between = words.count(low) if low == high else f"{words.count(low)} to {words.count(high)}"
    cards.facts(
        [
            (
                "Largest batch",
                between,
                f"within {words.size(largest['budget_bytes'])}" if largest else "no limit was found",
            ),
            (
                "Worth its memory",
                f"batch {words.count(int(knee))}" if knee else "—",
                "larger ones save under 10 % of the time",
            ),
            ("Prediction", f"{100 * max(errors):.1f} % off" if errors else "—", "at worst, of what was measured"),
        ]
    )


def memory(points: Sequence[Mapping[str, Any]], limit_bytes: int) -> go.Figure:
    """Predicted and measured peaks over batch sizes, against the limit where it is near."""
    figure = figures.base(320)
    most = max(int(point.get("measured_peak_bytes") or point.get("predicted_peak_bytes") or 1) for point in points)
    unit, divisor = ("GiB", 2**30) if most >= 2**30 else ("MiB", 2**20)
    for name, field, colour, dash in (
        ("predicted", "predicted_peak_bytes", figures.PREDICTED, "dash"),
        ("measured", "measured_peak_bytes", figures.MEASURED, "solid"),
    ):
        known = [point for point in points if point.get(field)]
        figure.add_scatter(
            x=[point["batch_size"] for point in known], y=[point[field] / divisor for point in known], name=name,
            mode="lines+markers", line={"color": colour, "dash": dash},
            customdata=[words.size(point[field]) for point in known],
            hovertemplate=f"batch %{{x}}, {name}: %{{customdata}}<extra></extra>",
        )  # fmt: skip
    failed = [point for point in points if point["status"] != "ok" and point.get("predicted_peak_bytes")]
    figure.add_scatter(
        x=[point["batch_size"] for point in failed], y=[point["predicted_peak_bytes"] / divisor for point in failed],
        mode="markers", name="does not fit", marker={"symbol": "x", "size": 11, "color": figures.LIMIT},
        hovertemplate="batch %{x} does not fit<extra></extra>", showlegend=bool(failed),
    )  # fmt: skip
    if limit_bytes < 3 * most:
        figure.add_hline(y=limit_bytes / divisor, line={"color": figures.LIMIT, "dash": "dash"})
    figure.update_xaxes(title_text="Batch size")
    figure.update_yaxes(title_text=f"Peak memory ({unit})", rangemode="tozero")
    return figure.update_layout(
        showlegend=True, legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}, margin_t=34
    )


def times(points: Sequence[Mapping[str, Any]], knee: int | None) -> go.Figure:
    """Time per sample over batch sizes, with the batch beyond which little is won."""
    figure = figures.base(240)
    figure.add_scatter(
        x=[point["batch_size"] for point in points], y=[1000 * point["time_per_sample_s"] for point in points],
        mode="lines+markers", line={"color": figures.GREEN},
        hovertemplate="batch %{x}: %{y:.3g} ms a sample<extra></extra>",
    )  # fmt: skip
    if knee:
        figure.add_vline(x=knee, line={"color": figures.GREY, "dash": "dash"})
        figure.add_annotation(
            x=knee, y=1, yref="paper", yanchor="bottom", showarrow=False, text=f"batch {words.count(knee)}"
        )
    figure.update_xaxes(title_text="Batch size")
    figure.update_yaxes(title_text="Time per sample (ms)", rangemode="tozero")
    return figure.update_layout(margin_t=30)


def _table(points: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    table: dict[str, list[str]] = {
        "Batch": [],
        "Predicted": [],
        "Measured": [],
        "Error": [],
        "Time a sample": [],
        "Ended": [],
    }
    for point in points:
        error = point.get("error_fraction")
        size = f" × {point['size']}" if point.get("size") else ""
        table["Batch"].append(f"{words.count(int(point['batch_size']))}{size}")
        table["Predicted"].append(_size(point.get("predicted_peak_bytes")))
        table["Measured"].append(_size(point.get("measured_peak_bytes")))
        table["Error"].append(
            "calibration"
            if point.get("calibration")
            else f"{round(100 * error, 1) + 0.0:+.1f} %"
            if error is not None
            else "—"
        )
        table["Time a sample"].append(
            words.duration(point["time_per_sample_s"]) if point.get("time_per_sample_s") else "—"
        )
        table["Ended"].append(
            "done" if point["status"] == "ok" else escape.clip(str(point.get("reason") or point["status"]), 120)
        )
    return table


def _size(value: Any) -> str:
    return words.size(value) if value else "—"
