"""What lowers the peak: every setting that was tried, ranked by what it measured."""

from __future__ import annotations

import math

import plotly.graph_objects as go
import streamlit as st

from dashboard import escape, figures, recipes, render, words
from stethoscope.memory.lowering_report import Lowered, Trial
from stethoscope.types import Status

_KINDS = {
    "call": "other call styles",
    "xla": "XLA",
    "batch": "smaller batches",
    "precision": "other precisions",
    "length": "shorter inputs",
}


def progress(report: Lowered) -> tuple[float, str]:
    """How far it is, and what it is trying."""
    return report.fraction, report.progress


def answer(report: Lowered, name: str) -> None:
    """The verdict, the picture, and each trial, for the file `name`."""
    if report.status is Status.OK:
        better = report.best is not None
        label = "Found" if better else "Nothing better"
        render.verdict("good" if better else "plain", label, escape.markdown(report.message, 500))
    elif report.reason:
        st.markdown(escape.sentences(report.reason))
    if any(trial.peak_bytes is not None for trial in (report.present, *report.trials)):
        st.plotly_chart(picture(report), config=figures.CONFIG, key="lowering", alt="Peak memory of each setting tried")
    if report.trials:
        render.outcomes(_table(report))
    untried: dict[str, list[str]] = {}
    for item in report.untried:
        untried.setdefault(item.reason, []).append(_KINDS.get(item.kind, item.kind))
    for reason, kinds in untried.items():
        st.caption(f"Not tried: {escape.markdown(', '.join(kinds))}. {escape.sentences(reason)}")
    if report.status:
        with st.expander("How this was done"):
            st.markdown(
                "Each setting ran in a process of its own, on the same random input. Peak is what it measured; time is for the whole "
                "input, against the present setting. Outputs are compared with the present ones; where only part of the input was "
                "used they cannot be."
            )
            st.markdown("The same from the command line:")
            options = {"advise": True, "batch-size": report.present.alternative.settings.batch_size}
            st.code(recipes.command_line("endurance", name, options), language="bash", wrap_lines=True)


def picture(report: Lowered) -> go.Figure:
    """One bar for each setting: its measured peak, the present one grey; a place is kept for those still to run."""
    tried = (report.present, *report.trials)
    rows = sorted(tried, key=lambda trial: math.inf if trial.peak_bytes is None else trial.peak_bytes)
    peaks = [trial.peak_bytes for trial in rows if trial.peak_bytes is not None]
    ran = rows[: len(peaks)]
    figure = figures.base(90 + 26 * len(rows))
    figure.add_bar(
        x=[peak / 2**20 for peak in peaks],
        y=list(range(len(ran))),
        orientation="h",
        marker_color=[
            figures.GREY if trial is report.present else figures.GREEN if report.lowers(trial) else figures.BLUE
            for trial in ran
        ],
        text=[words.size(peak) for peak in peaks],
        textposition="outside",
        cliponaxis=False,
        hovertext=[escape.figure(trial.alternative.title, 90) for trial in ran],
        hovertemplate="%{hovertext}: %{text}<extra></extra>",
    )
    names = ["as it is now" if trial is report.present else escape.figure(_short(trial), 44) for trial in rows]
    figure.update_yaxes(tickvals=list(range(len(rows))), ticktext=names, range=[len(rows) - 0.4, -0.6])
    figure.update_xaxes(title_text="Measured peak memory (MiB)", range=[0, 1.18 * peaks[-1] / 2**20])
    return figure


def _short(trial: Trial) -> str:
    title = trial.alternative.title
    return title.partition(": ")[0] if trial.alternative.kind == "precision" else title


def _table(report: Lowered) -> dict[str, list[str]]:
    table: dict[str, list[str]] = {"Change": [], "Peak": [], "Difference": [], "Time": [], "Outputs": [], "Ended": []}
    for trial in report.ranked:
        peak, saved, ratio = trial.peak_bytes, report.saved_fraction(trial), report.time_ratio(trial)
        moved = trial.relative_diff
        table["Change"].append(escape.clip(trial.alternative.title, 70))
        table["Peak"].append(words.size(peak) if peak is not None else "—")
        table["Difference"].append(_change(-saved) if saved is not None else "—")
        table["Time"].append(f"{words.significant(ratio)} ×" if ratio is not None else "—")
        table["Outputs"].append(
            "—" if moved is None else "the same" if trial.keeps_outputs else f"differ by {100 * moved:.2g} %"
        )
        table["Ended"].append(_ended(trial))
    return table


def _change(fraction: float) -> str:
    rounded = round(100 * fraction)
    return f"{'−' if rounded < 0 else '+' if rounded > 0 else '±'}{abs(rounded)} %"


def _ended(trial: Trial) -> str:
    if trial.status is None:
        return "waiting"
    return "done" if trial.status is Status.OK else escape.clip(trial.reason or trial.status.value, 120)
