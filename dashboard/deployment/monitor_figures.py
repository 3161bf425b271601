"""Pictures of a monitor: its runs against their thresholds."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from datetime import datetime

import plotly.graph_objects as go

from dashboard import escape, figures, words
from stethoscope.drift.settings import PSI_SMALL
from stethoscope.studies.monitor import MonitorRun

_LEAST_P = 1e-12
"""Smaller p-values are drawn here: below, they say nothing more."""


def runs_p(runs: Sequence[MonitorRun], alpha: float) -> go.Figure:
    """The smallest corrected p-value of each run against the level of the alarm; a run that failed is a gap with a cross."""
    figure = figures.base(240)
    heights = [None if one.p_value is None else max(one.p_value, _LEAST_P) for one in runs]
    bottom = min([alpha, *(one for one in heights if one is not None)]) / 3
    decades = -math.log10(bottom)
    _runs(figure, runs, heights, math.sqrt(bottom))
    figures.limit_line(figure, alpha, f"alarm at {words.given(alpha)} and below", log=True)
    figure.update_yaxes(
        title_text="Smallest p (corrected)",
        type="log",
        range=[math.log10(bottom), 0.08 * decades],
        **(figures.log_ticks(bottom, 1) | ({"dtick": math.ceil(decades / 5)} if decades > 5 else {})),
    )
    return figure


def runs_effect(runs: Sequence[MonitorRun], min_effect: float) -> go.Figure:
    """The largest drift of each run, as PSI above chance, against what counts."""
    figure = figures.base(240)
    heights = [one.psi for one in runs]
    known = [one for one in heights if one is not None]
    limit = min_effect or PSI_SMALL
    top = 1.2 * max([limit, *known])
    _runs(figure, runs, heights, top / 2)
    said = f"counts from {words.given(min_effect)}" if min_effect else "0.1 is called small; any counts"
    figures.limit_line(figure, limit, said)
    figure.update_yaxes(title_text="Largest PSI above chance", range=[-0.03 * top, top])
    return figure


def runs_accuracy(runs: Sequence[MonitorRun]) -> go.Figure:
    """The accuracy of each run that had labels."""
    figure = figures.base(240)
    _runs(figure, runs, [None if one.accuracy is None else 100 * one.accuracy for one in runs], None)
    figure.update_yaxes(title_text="Accuracy of current data (%)")
    return figure


def _runs(
    figure: go.Figure, runs: Sequence[MonitorRun], heights: Sequence[float | None], failed_at: float | None
) -> None:
    """Runs in the order in which they ended, joined; `failed_at` is where those that failed get their cross."""
    places = list(range(len(runs)))
    drifted = [one.drifted for one in runs]
    said = [_run(one) for one in runs]
    figure.add_scatter(
        x=places,
        y=list(heights),
        mode="lines+markers",
        connectgaps=False,
        line={"color": figures.GREY, "width": 1.5},
        marker={
            "color": [figures.VERMILION if one else figures.GREEN for one in drifted],
            "size": 10,
            "symbol": ["diamond" if one else "circle" for one in drifted],
        },
        customdata=said,
        hovertemplate="%{customdata}<extra></extra>",
    )
    failed = [place for place, one in enumerate(runs) if one.status != "ok"]
    if failed and failed_at is not None:
        figure.add_scatter(
            x=failed,
            y=[failed_at] * len(failed),
            mode="markers",
            marker={"color": figures.GREY, "symbol": "x", "size": 10},
            customdata=[said[place] for place in failed],
            hovertemplate="%{customdata}<extra></extra>",
        )
    step = max(1, -(-len(runs) // 8))
    ticks = places[::step]
    figure.update_xaxes(
        title_text="Runs, by when they ended (UTC)",
        tickvals=ticks,
        ticktext=[short_time(runs[place].time) for place in ticks],
        range=[-0.5, max(0.5, len(runs) - 0.5)],
    )


def short_time(text: object) -> str:
    """When a run ended, as day, month, hour and minute."""
    try:
        when = datetime.fromisoformat(str(text))
    except ValueError:
        return escape.figure(text, 20)
    return f"{when.day} {when:%b %H:%M}"


def _run(one: MonitorRun) -> str:
    wrapped = "<br>".join(escape.figure(line, 70) for line in textwrap.wrap(one.sentence[:240], 60))
    return f"{short_time(one.time)} · {escape.figure(one.current, 40)}<br>{one.in_words}<br>{wrapped}"
