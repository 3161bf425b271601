"""Pictures of drift: one feature on both sides, and what changed over time."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import plotly.graph_objects as go

from dashboard import escape, figures, words
from stethoscope.drift.report import CategoryHistogram, FeatureDrift, Stretch
from stethoscope.drift.settings import PSI_LARGE, PSI_SMALL

REFERENCE, CURRENT = figures.BLUE, figures.ORANGE
_SIDES = (("reference", REFERENCE), ("current", CURRENT))
_MOST_CATEGORIES = 14


def both_sides(row: FeatureDrift, height: int = 260) -> go.Figure | None:
    """How often each value comes on both sides, as shares; None where there is nothing to draw.

    Args:
        row: a feature of the answer.
        height: in pixels, of a histogram; categories take what they need.
    """
    drawn = row.histogram
    if isinstance(drawn, CategoryHistogram):
        return _categories(drawn)
    if drawn is None or not drawn.edges:
        return None
    edges = drawn.edges
    figure = figures.base(height, showlegend=True, bargap=0)
    counted = drawn.reference, drawn.current
    totals = [max(1, sum(counts)) for counts in counted]
    for (key, colour), counts, total in zip(_SIDES, counted, totals, strict=True):
        shares = [100 * count / total for count in counts]
        figure.add_scatter(
            x=[edges[0], *edges],
            y=[0, *shares, shares[-1]],
            mode="lines",
            name=key,
            line={"color": colour, "width": 2, "shape": "hv"},
            fill="tozeroy",
            fillcolor=_faint(colour),
            hoverinfo="skip",
        )
    both = list(zip(*counted, strict=True))
    said = [
        f"{low:.4g} … {high:.4g}"
        + "".join(
            f"<br>{key}: {words.share(count, total)} of the rows"
            for (key, _), count, total in zip(_SIDES, pair, totals, strict=True)
        )
        for (low, high), pair in zip(itertools.pairwise(edges), both, strict=True)
    ]
    # Lines have no area to point at: bars that are not seen say what is there.
    figure.add_bar(
        x=[(low + high) / 2 for low, high in itertools.pairwise(edges)],
        width=edges[1] - edges[0],
        showlegend=False,
        customdata=said,
        y=[100 * max(count / total for count, total in zip(pair, totals, strict=True)) for pair in both],
        marker={"color": "rgba(0,0,0,0)", "line_width": 0},
        hovertemplate="%{customdata}<extra></extra>",
    )
    figure.update_xaxes(title_text=escape.figure(row.name))
    figure.update_yaxes(title_text="Share of the rows (%)", rangemode="tozero")
    return _legend(figure)


def _categories(drawn: CategoryHistogram) -> go.Figure:
    names = drawn.categories[:_MOST_CATEGORIES]
    counted = drawn.reference, drawn.current
    totals = [max(1, sum(counts) + others) for counts, others in zip(counted, drawn.others, strict=True)]
    rest = [total - sum(counts[: len(names)]) for counts, total in zip(counted, totals, strict=True)]
    shown = [*names, *(["all others"] if any(rest) else [])]
    places = list(range(len(shown)))
    figure = figures.base(96 + 34 * len(shown), showlegend=True, barmode="group", bargap=0.3)
    for (key, colour), rows, total, others in zip(_SIDES, counted, totals, rest, strict=True):
        counts = [*rows[: len(names)], others][: len(shown)]
        shares = [100 * count / total for count in counts]
        figure.add_bar(
            y=places,
            x=shares,
            orientation="h",
            name=key,
            marker_color=colour,
            text=[words.share(count, total) for count in counts],
            textposition="outside",
            cliponaxis=False,
            customdata=[[escape.figure(one), words.count(count)] for one, count in zip(shown, counts, strict=True)],
            hovertemplate=f"%{{customdata[0]}}<br>{key}: %{{customdata[1]}} rows, %{{text}}<extra></extra>",
        )
    figure.update_yaxes(tickvals=places, ticktext=[escape.figure(one, 28) for one in shown], autorange="reversed")
    figure.update_xaxes(title_text="Share of the rows (%)", rangemode="tozero")
    return _legend(figure)


def control_chart(stretches: Sequence[Stretch], measure: str, centre: float) -> go.Figure:
    """Accuracy (or absolute error) of each stretch with its 95 % interval, and the limits around the reference's."""
    known = [one for one in stretches if one.value is not None]
    share = measure == "accuracy"
    scale = 100 if share else 1
    figure = figures.base(280)
    moments = [_middle(one) for one in known]

    def heights(numbers: Iterable[float | None]) -> list[float]:
        return [scale * (number or 0.0) for number in numbers]

    values = heights(one.value for one in known)
    for limits in (heights(one.lower_limit for one in known), heights(one.upper_limit for one in known)):
        figure.add_scatter(
            x=moments,
            y=limits,
            mode="lines",
            hoverinfo="skip",
            line={"color": figures.LIMIT, "width": 1.5, "dash": "dash", "shape": "hvh"},
        )
    figure.add_hline(y=scale * centre, line={"color": figures.GREY, "width": 1})
    out = [one.out_of_control for one in known]
    above = [high - value for high, value in zip(heights(one.high for one in known), values, strict=True)]
    below = [value - low for low, value in zip(heights(one.low for one in known), values, strict=True)]
    figure.add_scatter(
        x=moments,
        y=values,
        mode="lines+markers",
        line={"color": figures.GREY, "width": 1.5},
        marker={
            "color": [figures.VERMILION if one else _colour(row) for one, row in zip(out, known, strict=True)],
            "symbol": ["diamond" if one else "circle" for one in out],
            "size": [11 if one else 8 for one in out],
        },
        error_y={
            "type": "data",
            "symmetric": False,
            "array": above,
            "arrayminus": below,
            "color": figures.GREY,
            "thickness": 1,
            "width": 3,
        },
        customdata=[_stretch(one, measure) for one in known],
        hovertemplate="%{customdata}<extra></extra>",
    )
    figure.update_yaxes(title_text="Accuracy (%)" if share else "Absolute error")
    return _divided(figure, stretches)


def lines(stretches: Sequence[Stretch], key: Literal["mean_confidence", "largest_psi"], title: str) -> go.Figure:
    """One number of each stretch over time: mean confidence, or the largest PSI with what is called small and large."""
    known = [(one, number) for one in stretches if (number := getattr(one, key)) is not None]
    figure = figures.base(220)
    if key == "largest_psi":
        for limit, said in ((PSI_SMALL, "small"), (PSI_LARGE, "large")):
            figures.limit_line(figure, limit, said, side="left", width=1)
    figure.add_scatter(
        x=[_middle(one) for one, _ in known],
        y=[number for _, number in known],
        mode="lines+markers",
        line={"color": figures.GREY, "width": 1.5},
        marker={"color": [_colour(one) for one, _ in known], "size": 8},
        customdata=[
            f"{_when(one)}<br>{title.lower()} {words.significant(number)}"
            + (f" ({escape.figure(one.largest_psi_of)})" if key == "largest_psi" else "")
            for one, number in known
        ],
        hovertemplate="%{customdata}<extra></extra>",
    )
    figure.update_yaxes(title_text=title)
    return _divided(figure, stretches)


def moment(text: object) -> str:
    """A moment as it is read: an ISO time to the minute, a number as it is."""
    said = str(text)
    return said[:16].replace("T", " ") if len(said) > 16 and said[10] == "T" else said


def _stretch(one: Stretch, measure: str) -> str:
    value, low, high = (
        words.share(number or 0.0, 1) if measure == "accuracy" else words.significant(number or 0.0)
        for number in (one.value, one.low, one.high)
    )
    limits = "outside of the limits" if one.out_of_control else "within the limits"
    return f"{_when(one)}<br>{measure} {value} ({low} … {high})<br>{limits}; {words.count(one.n_labelled)} of {words.plural(one.n, 'row')} labelled"


def _when(one: Stretch) -> str:
    return f"{one.side}<br>{escape.figure(moment(one.start))} … {escape.figure(moment(one.end))}"


def _middle(one: Stretch) -> Any:
    """Where a stretch is drawn: numbers at their middle, moments where they begin."""
    try:
        return (float(one.start) + float(one.end)) / 2
    except ValueError:
        return one.start


def _divided(figure: go.Figure, stretches: Sequence[Stretch]) -> go.Figure:
    """With a line where the current data begins."""
    first = next((one for one in stretches if one.side == "current"), None)
    if first is not None and any(one.side == "reference" for one in stretches):
        at = _middle(first)
        figure.add_shape(
            type="line",
            x0=at,
            x1=at,
            y0=0,
            y1=1,
            yref="paper",
            line={"color": CURRENT, "width": 1, "dash": "dot"},
            layer="below",
        )
        figure.add_annotation(
            x=at,
            y=1,
            yref="paper",
            yanchor="bottom",
            xanchor="left",
            showarrow=False,
            text="current →",
            font={"color": CURRENT},
        )
        figure.update_layout(margin_t=26)
    return figure


def _colour(one: Stretch) -> str:
    return REFERENCE if one.side == "reference" else CURRENT


def _faint(colour: str) -> str:
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.18)"


def _legend(figure: go.Figure) -> go.Figure:
    return figure.update_layout(legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}, margin_t=28)
