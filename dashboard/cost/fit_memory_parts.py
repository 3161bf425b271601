"""How much memory training takes: over batch sizes, with each change, and beside `predict`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from dashboard import cards, escape, figures, recipes, render, words
from dashboard.cost import sweep_figures, sweep_parts
from dashboard.data import data_use
from stethoscope.jobs.protocol import JobState
from stethoscope.memory.training_points import FitAndPredict, FitTrial, Part, TrainingSwept
from stethoscope.types import Status

_COLOURS = (
    ("weights", figures.BLUE),
    ("optimizer", figures.PURPLE),
    ("data", figures.SKY),
    ("outputs", figures.VERMILION),
    ("activations,", figures.GREY),
    ("activations", figures.GREEN),
    ("gradients", figures.ORANGE),
)


def answer(state: JobState, name: str) -> None:
    """Everything about a finished sweep of training of the file `name`."""
    swept = sweep_parts.found(state, TrainingSwept)
    if swept is None:
        return
    limit = sweep_parts.limit_of(swept)
    cards.facts([*sweep_parts.largest(swept), *_facts(swept)])
    if any(point.measured_peak_bytes for point in swept.points):
        st.plotly_chart(
            sweep_figures.memory(swept.points, limit),
            config=figures.CONFIG,
            key="fit-memory",
            alt="Peak memory of training by batch size",
        )
    render.outcomes(sweep_parts.table(swept.points, swept.checks, lean=False))
    if swept.trials:
        _trials(swept)
    if swept.compared:
        _compared(swept.compared)
    with st.expander("How this was done"):
        st.markdown(
            f"Trained with model.fit on {swept.rows} batches, once for each batch size and change, in a process started for it with "
            f"TensorFlow's own allocator: memory that the process adds, loading included. {escape.markdown(swept.optimizer)}, "
            f"{escape.markdown(swept.loss)}. Each further row of data adds {words.size(swept.row_bytes)}: its arrays, and the copy "
            "that fit makes of them."
        )
        for sentence in swept.assumed:
            st.markdown(escape.markdown(sentence))
        st.markdown("The same from the command line:")
        st.code(_command(name, state.params, limit, swept), language="bash", wrap_lines=True)


def _facts(swept: TrainingSwept) -> list[tuple[str, str, str]]:
    best = next((trial for trial in swept.trials if trial.change.id == swept.best), None)
    if best is None or best.saved_fraction is None:
        return []
    return [("What lowers it most", f"−{100 * best.saved_fraction:.0f} %", escape.clip(best.change.title, 60))]


def _command(name: str, params: Mapping[str, Any], limit: int | None, swept: TrainingSwept) -> str:
    options: dict[str, Any] = {
        "train": True,
        "data": None if swept.input == "dummy" else swept.input,
        **data_use.command_options(params),
        "batch-sizes": ",".join(map(str, params.get("batch_sizes") or ())) or None,
        "advise": True if params.get("changes") else None,
        "memory-limit": f"{limit // 2**20}MiB" if limit else None,
    }
    return recipes.command_line("sweep", name, options)


def _trials(swept: TrainingSwept) -> None:
    st.markdown(f"**What lowers it**, at batch {words.count(swept.trials_batch or 0)}")
    render.outcomes(trials_table(swept.trials))
    best = next((trial for trial in swept.trials if trial.change.id == swept.best), None)
    if best is None:
        st.caption("None of what was tried lowers the peak by more than equal runs differ by.")
    else:
        st.code(best.change.code, language="python")
    for item in swept.untried:
        st.caption(f"Not tried: {item.kind}. {escape.sentences(item.reason)}")


def trials_table(trials: tuple[FitTrial, ...]) -> dict[str, list[str]]:
    """The changes by rank, as columns of text."""
    table: dict[str, list[str]] = {"Change": [], "Peak": [], "Difference": [], "Time a sample": [], "Ended": []}
    for trial in trials:
        saved, time_s = trial.saved_fraction, trial.time_per_sample_s
        table["Change"].append(escape.clip(trial.change.title, 70))
        table["Peak"].append(words.size(trial.peak_bytes) if trial.peak_bytes else "—")
        table["Difference"].append("—" if saved is None else f"{'−' if saved > 0 else '+'}{abs(100 * saved):.0f} %")
        table["Time a sample"].append(words.duration(time_s) if time_s else "—")
        ended = trial.change.changes_result if trial.status is Status.OK else trial.reason
        table["Ended"].append(escape.clip(ended or "done", 120))
    return table


def _compared(compared: FitAndPredict) -> None:
    st.markdown("**Why fit and predict differ**")
    st.markdown(escape.markdown(compared.sentence, 600))
    st.plotly_chart(
        picture(compared), config=figures.CONFIG, key="fit-predict", alt="Peak memory of fit and of predict, in parts"
    )
    st.caption(
        "Weights, optimizer states, data and outputs are counted from their arrays; activations of fit are what its peak grew by "
        "with the batch; the rest is what is left of the measured peak."
    )


def picture(compared: FitAndPredict) -> go.Figure:
    """Two stacked bars: the peaks of `fit` and of `predict`, in parts."""
    rows = (("fit", compared.fit), ("predict", compared.predict))
    largest = max(compared.fit_peak_bytes, compared.predict_peak_bytes)
    unit, divisor = ("GiB", 2**30) if largest >= 2**30 else ("MiB", 2**20)
    figure = figures.base(190, barmode="stack")
    for start, colour in _COLOURS:
        found = [(call, part) for call, parts in rows for part in parts if _colour_of(part) == start]
        if found:
            figure.add_bar(
                x=[part.size_bytes / divisor for _, part in found],
                y=[call for call, _ in found],
                orientation="h",
                name=escape.figure(found[0][1].name, 60),
                marker_color=colour,
                customdata=[[words.size(part.size_bytes), part.name] for _, part in found],
                hovertemplate="%{y}<br>%{customdata[1]}: %{customdata[0]}<extra></extra>",
            )
    figure.update_yaxes(categoryorder="array", categoryarray=["predict", "fit"])
    figure.update_xaxes(title_text=f"Measured peak memory ({unit})")
    legend = {"orientation": "h", "yref": "container", "y": 1.0, "yanchor": "top", "x": 0, "traceorder": "normal"}
    return figure.update_layout(showlegend=True, legend=legend, margin_t=64)


def _colour_of(part: Part) -> str:
    return next((start for start, _ in _COLOURS if part.name.startswith(start)), "gradients")
