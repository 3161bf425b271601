"""Several models on one card: the split, and what running them at once came to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import plotly.graph_objects as go
import streamlit as st

from dashboard import escape, figures, render, words
from stethoscope.memory.lowering_report import ModelRun, TogetherReport
from stethoscope.memory.sharing import Share

_VERDICTS: Mapping[str, tuple[Literal["good", "bad", "careful", "plain"], str]] = {
    "fit": ("good", "They fit"),
    "contained": ("good", "Contained"),
    "disturbed": ("bad", "Disturbed"),
    "not run": ("careful", "Not run"),
    "cancelled": ("plain", "Cancelled"),
}
_DOING = {"waiting": "waiting", "alone": "measured alone", "together": "running", "done": "done"}
_STATES = {"waiting": 0.0, "alone": 0.3, "together": 0.7, "done": 1.0}


def progress(report: TogetherReport) -> tuple[float, str]:
    """How far it is, and what runs."""
    share = sum(_STATES[run.state] for run in report.runs) / len(report.runs)
    together, alone = ([run.name for run in report.runs if run.state == state] for state in ("together", "alone"))
    if together:
        return share, f"running at once: {', '.join(together)}"
    if alone:
        return share, f"measuring {', '.join(alone)} alone"
    return share, "dividing the card" if all(run.alone_bytes is not None for run in report.runs) else ""


def answer(report: TogetherReport) -> None:
    """The verdict, the split, each model's run, and the code."""
    if report.verdict:
        tone, label = _VERDICTS[report.verdict]
        render.verdict(tone, label, escape.markdown(report.sentence, 500))
    if report.split is not None:
        st.markdown(escape.sentences(report.split.sentence))
        drawn = picture(report.split.shares, report.runs)
        st.plotly_chart(drawn, config=figures.CONFIG, key="split", alt="The card divided between the models")
    render.outcomes(_table(report.runs))
    for run in report.runs:
        if run.reason:
            st.markdown(f"**{escape.markdown(run.name)}** {escape.sentences(run.reason)}")
    if report.at_once > 1:
        st.caption(f"{words.count(report.at_once)} processes were running at the same moment.")
    for place, code in enumerate(report.codes):
        with st.expander(escape.markdown(code.title), expanded=place == 0):
            if code.note:
                st.caption(escape.sentences(code.note))
            if code.needs_gpu:
                st.caption("It needs a card, and was not run here.")
            st.code(code.code, language="python", wrap_lines=True)


def picture(shares: Sequence[Share], runs: Sequence[ModelRun]) -> go.Figure:
    """Each model's share, its predicted peak, and the peak it had beside the others."""
    measured = {run.name: run.peak_bytes or 0 for run in runs}
    names = [escape.figure(share.name, 36) for share in shares]
    figure = figures.base(110 + 54 * len(shares), barmode="group")
    for title, values, colour in (
        ("share", [share.share_bytes for share in shares], figures.GREY),
        ("predicted peak", [share.predicted_bytes for share in shares], figures.PREDICTED),
        ("measured together", [measured[share.name] for share in shares], figures.MEASURED),
    ):
        figure.add_bar(
            x=[value / 2**20 for value in values],
            y=names,
            orientation="h",
            name=title,
            marker_color=colour,
            customdata=[words.size(value) for value in values],
            hovertemplate=f"%{{y}}, {title}: %{{customdata}}<extra></extra>",
        )
    figure.update_yaxes(autorange="reversed")
    figure.update_xaxes(title_text="Memory (MiB)")
    return figure.update_layout(
        showlegend=True, legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}, margin_t=34
    )


def _table(runs: Sequence[ModelRun]) -> dict[str, list[str]]:
    return {
        "Model": [escape.clip(run.name, 60) for run in runs],
        "Alone": [_size(run.alone_bytes) for run in runs],
        "Share": [_size(run.share_bytes) for run in runs],
        "Together": [_size(run.peak_bytes) for run in runs],
        "Calls": [words.count(run.calls) for run in runs],
        "Ended": [_ended(run) for run in runs],
    }


def _ended(run: ModelRun) -> str:
    if not run.status:
        return _DOING[run.state]
    if run.status == "ok":
        same = run.same_as_alone
        return "done" + (", outputs as alone" if same else ", outputs differ" if same is False else "")
    return run.status.replace("_", " ")


def _size(value: int | None) -> str:
    return words.size(value) if value else "—"
