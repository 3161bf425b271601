"""Pictures of drift: one feature on both sides, what was found over time, and the runs of a monitor against their thresholds."""

from __future__ import annotations

import itertools
import math
import textwrap
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import plotly.graph_objects as go

from dashboard import escape, figures, words
from stethoscope.drift.effects import PSI_LARGE, PSI_SMALL

REFERENCE, CURRENT = figures.BLUE, figures.ORANGE
_SIDES = (("reference", REFERENCE), ("current", CURRENT))
_LEAST_P = 1e-12
"""Smaller p-values are drawn here: below, they say nothing more."""
_MOST_CATEGORIES = 14


def both_sides(row: Mapping[str, Any], height: int = 260) -> go.Figure | None:
    """How often each value comes on both sides, as shares; None where there is nothing to draw.

    Args:
        row: a feature of the answer.
        height: in pixels, of a histogram; categories take what they need.
    """
    drawn = row.get("histogram") or {}
    if drawn.get("categories"):
        return _categories(drawn)
    if not drawn.get("edges"):
        return None
    edges = [float(edge) for edge in drawn["edges"]]
    figure = figures.base(height, showlegend=True, bargap=0)
    totals = [max(1, sum(drawn[key])) for key, _ in _SIDES]
    for (key, colour), total in zip(_SIDES, totals, strict=True):
        shares = [100 * count / total for count in drawn[key]]
        figure.add_scatter(
            x=[edges[0], *edges], y=[0, *shares, shares[-1]], mode="lines", name=key, line={"color": colour, "width": 2, "shape": "hv"},
            fill="tozeroy", fillcolor=_faint(colour), hoverinfo="skip",
        )  # fmt: skip
    both = list(zip(drawn["reference"], drawn["current"], strict=True))
    said = [
        f"{low:.4g} … {high:.4g}" + "".join(f"<br>{key}: {words.share(count, total)} of the rows" for (key, _), count, total in zip(_SIDES, pair, totals, strict=True))
        for (low, high), pair in zip(itertools.pairwise(edges), both, strict=True)
    ]  # fmt: skip
    # Lines have no area to point at: bars that are not seen say what is there.
    figure.add_bar(
        x=[(low + high) / 2 for low, high in itertools.pairwise(edges)], width=edges[1] - edges[0], showlegend=False, customdata=said,
        y=[100 * max(count / total for count, total in zip(pair, totals, strict=True)) for pair in both],
        marker={"color": "rgba(0,0,0,0)", "line_width": 0}, hovertemplate="%{customdata}<extra></extra>",
    )  # fmt: skip
    figure.update_xaxes(title_text=escape.figure(row["name"]))
    figure.update_yaxes(title_text="Share of the rows (%)", rangemode="tozero")
    return _legend(figure)


def _categories(drawn: Mapping[str, Any]) -> go.Figure:
    names = list(drawn["categories"])[:_MOST_CATEGORIES]
    totals = {
        key: max(1, sum(drawn[key]) + drawn["others"][place]) for place, key in enumerate(("reference", "current"))
    }
    rest = {key: totals[key] - sum(drawn[key][: len(names)]) for key in totals}
    shown = names + (["all others"] if any(rest.values()) else [])
    places = list(range(len(shown)))
    figure = figures.base(96 + 34 * len(shown), showlegend=True, barmode="group", bargap=0.3)
    for key, colour in _SIDES:
        counts = [*drawn[key][: len(names)], rest[key]][: len(shown)]
        shares = [100 * count / totals[key] for count in counts]
        figure.add_bar(
            y=places, x=shares, orientation="h", name=key, marker_color=colour,
            text=[words.share(count, totals[key]) for count in counts], textposition="outside", cliponaxis=False,
            customdata=[[escape.figure(one), words.count(count)] for one, count in zip(shown, counts, strict=True)],
            hovertemplate=f"%{{customdata[0]}}<br>{key}: %{{customdata[1]}} rows, %{{text}}<extra></extra>",
        )  # fmt: skip
    figure.update_yaxes(tickvals=places, ticktext=[escape.figure(one, 28) for one in shown], autorange="reversed")
    figure.update_xaxes(title_text="Share of the rows (%)", rangemode="tozero")
    return _legend(figure)


def control_chart(stretches: Sequence[Mapping[str, Any]], measure: str, centre: float) -> go.Figure:
    """Accuracy (or absolute error) of each stretch with its 95 % interval, and the limits around the reference's."""
    known = [one for one in stretches if one["value"] is not None]
    share = measure == "accuracy"
    scale = 100 if share else 1
    figure = figures.base(280)
    moments = [_middle(one) for one in known]
    for key in ("lower_limit", "upper_limit"):
        figure.add_scatter(
            x=moments, y=[scale * one[key] for one in known], mode="lines", hoverinfo="skip",
            line={"color": figures.LIMIT, "width": 1.5, "dash": "dash", "shape": "hvh"},
        )  # fmt: skip
    figure.add_hline(y=scale * centre, line={"color": figures.GREY, "width": 1})
    out = [bool(one["out_of_control"]) for one in known]
    figure.add_scatter(
        x=moments, y=[scale * one["value"] for one in known], mode="lines+markers", line={"color": figures.GREY, "width": 1.5},
        marker={"color": [figures.VERMILION if one else _colour(row) for one, row in zip(out, known, strict=True)],
                "symbol": ["diamond" if one else "circle" for one in out], "size": [11 if one else 8 for one in out]},
        error_y={"type": "data", "symmetric": False, "array": [scale * (one["high"] - one["value"]) for one in known],
                 "arrayminus": [scale * (one["value"] - one["low"]) for one in known], "color": figures.GREY, "thickness": 1, "width": 3},
        customdata=[_stretch(one, measure) for one in known], hovertemplate="%{customdata}<extra></extra>",
    )  # fmt: skip
    figure.update_yaxes(title_text="Accuracy (%)" if share else "Absolute error")
    return _divided(figure, stretches)


def lines(stretches: Sequence[Mapping[str, Any]], key: str, title: str) -> go.Figure:
    """One number of each stretch over time: mean confidence, or the largest PSI with what is called small and large."""
    known = [one for one in stretches if one.get(key) is not None]
    figure = figures.base(220)
    if key == "largest_psi":
        for limit, said in ((PSI_SMALL, "small"), (PSI_LARGE, "large")):
            figure.add_hline(y=limit, line={"color": figures.LIMIT, "width": 1, "dash": "dash"})
            figure.add_annotation(
                x=0, xref="paper", xanchor="left", y=limit, yanchor="bottom", showarrow=False, text=said, font={"color": figures.LIMIT}
            )  # fmt: skip
    figure.add_scatter(
        x=[_middle(one) for one in known], y=[one[key] for one in known], mode="lines+markers",
        line={"color": figures.GREY, "width": 1.5}, marker={"color": [_colour(one) for one in known], "size": 8},
        customdata=[
            f"{_when(one)}<br>{title.lower()} {words.significant(float(one[key]))}"
            + (f" ({escape.figure(one['largest_psi_of'])})" if key == "largest_psi" else "")
            for one in known
        ],
        hovertemplate="%{customdata}<extra></extra>",
    )  # fmt: skip
    figure.update_yaxes(title_text=title)
    return _divided(figure, stretches)


def runs_p(runs: Sequence[Mapping[str, Any]], alpha: float) -> go.Figure:
    """The smallest corrected p-value of each run against the level of the alarm; a run that failed is a gap with a cross."""
    figure = figures.base(240)
    heights = [None if one.get("p_value") is None else max(float(one["p_value"]), _LEAST_P) for one in runs]
    bottom = min([alpha, *(one for one in heights if one is not None)]) / 3
    decades = -math.log10(bottom)
    _runs(figure, runs, heights, math.sqrt(bottom))
    _limit(figure, alpha, f"alarm at {words.given(alpha)} and below", math.log10(alpha))
    figure.update_yaxes(
        title_text="Smallest p (corrected)", type="log", range=[math.log10(bottom), 0.08 * decades],
        **(figures.log_ticks(bottom, 1) | ({"dtick": math.ceil(decades / 5)} if decades > 5 else {})),
    )  # fmt: skip
    return figure


def runs_effect(runs: Sequence[Mapping[str, Any]], min_effect: float) -> go.Figure:
    """The largest drift of each run, as PSI above chance, against what counts."""
    figure = figures.base(240)
    heights = [None if one.get("psi") is None else float(one["psi"]) for one in runs]
    known = [one for one in heights if one is not None]
    limit = min_effect or PSI_SMALL
    top = 1.2 * max([limit, *known])
    _runs(figure, runs, heights, top / 2)
    said = f"counts from {words.given(min_effect)}" if min_effect else "0.1 is called small; any counts"
    _limit(figure, limit, said, limit)
    figure.update_yaxes(title_text="Largest PSI above chance", range=[-0.03 * top, top])
    return figure


def runs_accuracy(runs: Sequence[Mapping[str, Any]]) -> go.Figure:
    """The accuracy of each run that had labels."""
    figure = figures.base(240)
    _runs(figure, runs, [None if one.get("accuracy") is None else 100 * one["accuracy"] for one in runs], None)
    figure.update_yaxes(title_text="Accuracy of current data (%)")
    return figure


def _runs(
    figure: go.Figure, runs: Sequence[Mapping[str, Any]], heights: Sequence[float | None], failed_at: float | None
) -> None:
    """Runs in the order in which they ended, joined; `failed_at` is where those that failed get their cross."""
    places = list(range(len(runs)))
    drifted = [one.get("verdict") == "drift" for one in runs]
    said = [_run(one) for one in runs]
    figure.add_scatter(
        x=places, y=list(heights), mode="lines+markers", connectgaps=False, line={"color": figures.GREY, "width": 1.5},
        marker={"color": [figures.VERMILION if one else figures.GREEN for one in drifted], "size": 10,
                "symbol": ["diamond" if one else "circle" for one in drifted]},
        customdata=said, hovertemplate="%{customdata}<extra></extra>",
    )  # fmt: skip
    failed = [place for place, one in enumerate(runs) if one.get("status") != "ok"]
    if failed and failed_at is not None:
        figure.add_scatter(
            x=failed, y=[failed_at] * len(failed), mode="markers", marker={"color": figures.GREY, "symbol": "x", "size": 10},
            customdata=[said[place] for place in failed], hovertemplate="%{customdata}<extra></extra>",
        )  # fmt: skip
    step = max(1, -(-len(runs) // 8))
    ticks = places[::step]
    figure.update_xaxes(
        title_text="Runs, by when they ended (UTC)", tickvals=ticks, ticktext=[short_time(runs[place]["time"]) for place in ticks],
        range=[-0.5, max(0.5, len(runs) - 0.5)],
    )  # fmt: skip


def _limit(figure: go.Figure, at: float, said: str, written_at: float) -> None:
    figure.add_hline(y=at, line={"color": figures.LIMIT, "width": 1.5, "dash": "dash"})
    figure.add_annotation(
        x=1, xref="paper", xanchor="right", y=written_at, yanchor="bottom", showarrow=False, text=said, font={"color": figures.LIMIT}
    )  # fmt: skip


def short_time(text: object) -> str:
    """When a run ended, as day, month, hour and minute."""
    try:
        when = datetime.fromisoformat(str(text))
    except ValueError:
        return escape.figure(text, 20)
    return f"{when.day} {when:%b %H:%M}"


def moment(text: object) -> str:
    """A moment as it is read: an ISO time to the minute, a number as it is."""
    said = str(text)
    return said[:16].replace("T", " ") if len(said) > 16 and said[10] == "T" else said


def _run(one: Mapping[str, Any]) -> str:
    wrapped = "<br>".join(escape.figure(line, 70) for line in textwrap.wrap(str(one.get("sentence") or "")[:240], 60))
    what = "drift" if one.get("verdict") == "drift" else "no drift" if one.get("status") == "ok" else "did not run"
    return f"{short_time(one['time'])} · {escape.figure(one.get('current') or '', 40)}<br>{what}<br>{wrapped}"


def _stretch(one: Mapping[str, Any], measure: str) -> str:
    value, low, high = (
        words.share(one[key], 1) if measure == "accuracy" else words.significant(one[key])
        for key in ("value", "low", "high")
    )
    limits = "outside of the limits" if one["out_of_control"] else "within the limits"
    return f"{_when(one)}<br>{measure} {value} ({low} … {high})<br>{limits}; {words.count(one['n_labelled'])} of {words.plural(one['n'], 'row')} labelled"


def _when(one: Mapping[str, Any]) -> str:
    return f"{one['side']}<br>{escape.figure(moment(one['start']))} … {escape.figure(moment(one['end']))}"


def _middle(one: Mapping[str, Any]) -> Any:
    """Where a stretch is drawn: numbers at their middle, moments where they begin."""
    try:
        return (float(one["start"]) + float(one["end"])) / 2
    except ValueError:
        return one["start"]


def _divided(figure: go.Figure, stretches: Sequence[Mapping[str, Any]]) -> go.Figure:
    """With a line where the current data begins."""
    first = next((one for one in stretches if one["side"] == "current"), None)
    if first is not None and any(one["side"] == "reference" for one in stretches):
        at = _middle(first)
        figure.add_shape(
            type="line", x0=at, x1=at, y0=0, y1=1, yref="paper", line={"color": CURRENT, "width": 1, "dash": "dot"}, layer="below"
        )  # fmt: skip
        figure.add_annotation(
            x=at, y=1, yref="paper", yanchor="bottom", xanchor="left", showarrow=False, text="current →", font={"color": CURRENT}
        )  # fmt: skip
        figure.update_layout(margin_t=26)
    return figure


def _colour(one: Mapping[str, Any]) -> str:
    return REFERENCE if one["side"] == "reference" else CURRENT


def _faint(colour: str) -> str:
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.18)"


def _legend(figure: go.Figure) -> go.Figure:
    return figure.update_layout(legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}, margin_t=28)
