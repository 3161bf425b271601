"""Pictures of data as a whole: class balance, distributions, picture sizes, marks, sequences, relations."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import plotly.graph_objects as go

from dashboard import escape, words
from dashboard.figures import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION, base
from stethoscope.data.study.marks import Categories, Counted
from stethoscope.data.study.numbers import Dates, Numbers
from stethoscope.data.study.pictures import Masks, PictureSize
from stethoscope.data.study.repeats import Relations
from stethoscope.data.study.texts import Course

CYCLE = (BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILION)
MOST_BARS = 25
_FEW_WHOLE = 12
"""Whole numbers up to which each has its own tick."""
_CHANNELS = {1: (GREY,), 2: (GREY, SKY), 3: (VERMILION, GREEN, BLUE), 4: (VERMILION, GREEN, BLUE, GREY)}
_CHANNEL_NAMES = {1: ("Grey",), 3: ("Red", "Green", "Blue"), 4: ("Red", "Green", "Blue", "Opacity")}


def classes(
    found: Categories, by_split: Mapping[str, Categories], empty: Sequence[str], unit: str = "Rows"
) -> go.Figure:
    """Horizontal bars: rows (or another `unit`) of each class, the commonest first, in one colour for each split."""
    values = [(one.value, one.count) for one in found.values[:MOST_BARS]]
    values += [(name, 0) for name in empty[: max(0, MOST_BARS - len(values))]]
    values.reverse()
    total = found.count
    places = list(range(len(values)))
    figure = base(70 + 24 * len(values), barmode="stack")
    splits = {name: {one.value: one.count for one in study.values} for name, study in by_split.items()}
    groups = splits if len(splits) > 1 else {"": dict(values)}
    for number, (split, counts) in enumerate(groups.items()):
        said = f" in {escape.figure(split)}" if split else ""
        figure.add_bar(
            x=[counts.get(name, 0) for name, _ in values],
            y=places,
            orientation="h",
            name=escape.figure(split),
            marker_color=CYCLE[number % len(CYCLE)],
            customdata=[
                [escape.figure(name), words.count(counts.get(name, 0)), words.share(counts.get(name, 0), total)]
                for name, _ in values
            ],
            hovertemplate=f"%{{customdata[0]}}<br>%{{customdata[1]}} {unit.lower()}{said}, %{{customdata[2]}} of all<extra></extra>",
        )
    for place, (_, count) in enumerate(values):
        figure.add_annotation(x=count, y=place, text=f"{words.count(count)}", showarrow=False, xanchor="left", xshift=4)
    figure.update_yaxes(tickvals=places, ticktext=[escape.figure(name, 32) for name, _ in values])
    longest = max((count for _, count in values), default=1)
    figure.update_xaxes(title_text=f"{unit} (number)", range=[0, max(1, longest) * 1.14])
    if len(groups) > 1:
        legend(figure)
    return figure


def numbers(study: Numbers, title: str, *, height: int = 190, unit: str = "Rows") -> go.Figure | None:
    """A histogram; None where there is none to draw, or nothing to see because all values are one.

    Where it was made from a sample of the values, its bars are scaled to all of them.
    """
    told = study.histogram
    if told is None or not told.counts or study.min == study.max:
        return None
    counts, edges = told.counts, told.edges
    about = ""
    total = sum(counts)
    if study.sampled and total:
        counts = tuple(round(count * study.count / total) for count in counts)
        about = "about "
    middles = [(low + high) / 2 for low, high in itertools.pairwise(edges)]
    figure = base(height, bargap=0.04)
    figure.add_bar(
        x=middles,
        y=counts,
        width=[high - low for low, high in itertools.pairwise(edges)],
        marker_color=BLUE,
        customdata=[
            [words.significant(low), words.significant(high), words.count(count)]
            for low, high, count in zip(edges, edges[1:], counts, strict=False)
        ],
        hovertemplate=f"%{{customdata[0]}} to %{{customdata[1]}}: {about}%{{customdata[2]}}<extra></extra>",
    )
    figure.update_xaxes(title_text=escape.figure(title, 60))
    if study.whole and edges[-1] - edges[0] <= _FEW_WHOLE:
        figure.update_xaxes(dtick=1)
        figure.update_traces(
            customdata=[
                ["", words.given(round(place)), words.count(count)]
                for place, count in zip(middles, counts, strict=True)
            ],
            hovertemplate=f"%{{customdata[1]}}: {about}%{{customdata[2]}}<extra></extra>",
        )
    figure.update_yaxes(title_text=unit)
    return figure


def dates(study: Dates, title: str, *, height: int = 190) -> go.Figure | None:
    """Rows over time."""
    figure = numbers(study.seconds, title, height=height)
    if figure is None or study.seconds.histogram is None:
        return None
    bars = figure.data[0]
    edges = study.seconds.histogram.edges
    low, high = (datetime.fromtimestamp(end, UTC) for end in (edges[0], edges[-1]))
    days = (high - low).days > len(bars.x)
    told = [datetime.fromtimestamp(middle, UTC) for middle in bars.x]
    said = [one.strftime("%Y-%m-%d" if days else "%Y-%m-%d %H:%M") for one in told]
    figure.update_traces(
        x=told,
        width=[1_000 * wide for wide in bars.width],
        customdata=[[when, count[2]] for when, count in zip(said, bars.customdata, strict=True)],
        hovertemplate="around %{customdata[0]}: %{customdata[1]}<extra></extra>",
    )
    return figure


def mask_classes(study: Masks, names: Sequence[str]) -> go.Figure:
    """Horizontal bars: the share of all pixels that each class has."""
    values = list(reversed(study.values[:MOST_BARS]))
    said = [names[one.value] if 0 <= one.value < len(names) else f"class {one.value}" for one in values]
    total = max(1, study.pixels)
    figure = base(70 + 24 * len(values))
    figure.add_bar(
        x=[one.count / total for one in values],
        y=list(range(len(values))),
        orientation="h",
        marker_color=BLUE,
        text=[words.share(one.count, total) for one in values],
        textposition="outside",
        cliponaxis=False,
        customdata=[
            [escape.figure(name), words.share(one.count, total), words.count(one.rows)]
            for name, one in zip(said, values, strict=True)
        ],
        hovertemplate="%{customdata[0]}<br>%{customdata[1]} of all pixels, in %{customdata[2]} masks<extra></extra>",
    )
    figure.update_yaxes(tickvals=list(range(len(values))), ticktext=[escape.figure(name, 32) for name in said])
    figure.update_xaxes(title_text="Share of pixels", tickformat=".0%", rangemode="tozero")
    return figure


def categories(values: Sequence[Counted], title: str, *, height: int = 190) -> go.Figure:
    """Bars of the commonest values of a field."""
    values = values[:12]
    figure = base(height)
    figure.add_bar(
        x=list(range(len(values))),
        y=[one.count for one in values],
        marker_color=BLUE,
        customdata=[[escape.figure(one.value, 60), words.count(one.count)] for one in values],
        hovertemplate="%{customdata[0]}: %{customdata[1]}<extra></extra>",
    )
    figure.update_xaxes(
        title_text=escape.figure(title, 60),
        tickvals=list(range(len(values))),
        tickangle=-30,
        ticktext=[escape.figure(one.value, 10) for one in values],
    )
    figure.update_yaxes(title_text="Rows")
    return figure


def sizes(found: Sequence[PictureSize]) -> go.Figure:
    """Width against height of every picture size; the area of a dot is how many have it."""
    most = max((one.count for one in found), default=1)
    figure = base(300)
    figure.add_scatter(
        x=[one.width for one in found],
        y=[one.height for one in found],
        mode="markers",
        marker={"size": [7 + 25 * (one.count / most) ** 0.5 for one in found], "color": BLUE, "opacity": 0.6},
        customdata=[[words.count(one.count)] for one in found],
        hovertemplate="%{x} × %{y} pixels: %{customdata[0]}<extra></extra>",
    )
    figure.update_xaxes(title_text="Width (pixels)", rangemode="tozero")
    figure.update_yaxes(title_text="Height (pixels)", rangemode="tozero")
    return figure


def channels(studies: Sequence[Numbers]) -> go.Figure:
    """The values of each colour channel as lines over one axis."""
    figure = base(300)
    count = len(studies)
    names = _CHANNEL_NAMES.get(count, tuple(f"Channel {number}" for number in range(count)))
    for study, colour, name in zip(studies, _CHANNELS.get(count, CYCLE), names, strict=False):
        edges, counts = ((), ()) if study.histogram is None else (study.histogram.edges, study.histogram.counts)
        total = max(1, sum(counts))
        figure.add_scatter(
            x=[(low + high) / 2 for low, high in itertools.pairwise(edges)],
            y=[count / total for count in counts],
            mode="lines",
            line={"color": colour, "shape": "hvh", "width": 1.8},
            name=name,
            hovertemplate=f"{name} %{{x:.4g}}: %{{y:.1%}} of pixels<extra></extra>",
        )
    figure.update_xaxes(title_text="Pixel value")
    figure.update_yaxes(title_text="Share of pixels", tickformat=".0%")
    return legend(figure)


def centres(grid: Sequence[Sequence[int]]) -> go.Figure:
    """Where on the picture the centres of marks lie, whatever its size."""
    figure = base(300)
    places = [(number + 0.5) / len(grid) for number in range(len(grid))]
    figure.add_heatmap(
        z=grid,
        x=places,
        y=places,
        colorscale="Cividis",
        colorbar={"title": {"text": "Marks"}, "thickness": 12},
        hovertemplate="%{x:.0%} across, %{y:.0%} down: %{z}<extra></extra>",
    )
    figure.update_xaxes(title_text="Across the picture", tickformat=".0%", constrain="domain")
    figure.update_yaxes(
        title_text="Down the picture", tickformat=".0%", autorange="reversed", scaleanchor="x", constrain="domain"
    )
    return figure


def course(told: Course) -> go.Figure:
    """The mean of each channel over the length of a sequence, with one standard deviation around it."""
    figure = base(260)
    for number, (mean, std) in enumerate(zip(told.mean, told.std, strict=False)):
        colour = CYCLE[number % len(CYCLE)]
        places = [100 * place / len(mean) for place in range(len(mean))]
        if len(told.mean) <= 4:
            band = [value + spread for value, spread in zip(mean, std, strict=True)]
            under = [value - spread for value, spread in zip(mean, std, strict=True)]
            figure.add_scatter(
                x=places + places[::-1],
                y=band + under[::-1],
                fill="toself",
                fillcolor=colour,
                opacity=0.15,
                line={"width": 0},
                hoverinfo="skip",
                showlegend=False,
            )
        figure.add_scatter(
            x=places,
            y=mean,
            mode="lines",
            line={"color": colour, "width": 1.8},
            name=f"Channel {number}",
            hovertemplate=f"Channel {number} at %{{x:.0f}} % of the length: %{{y:.4g}}<extra></extra>",
        )
    figure.update_xaxes(title_text="Place in the sequence (% of its length)")
    figure.update_yaxes(title_text="Mean ± standard deviation")
    return legend(figure) if len(told.mean) > 1 else figure


def relations(found: Relations) -> go.Figure:
    """Rank correlations of every two columns of numbers."""
    names = [escape.figure(name, 24) for name in found.names]
    places = list(range(len(names)))
    matrix = found.matrix
    figure = base(max(300, 90 + 20 * len(names)))
    figure.add_heatmap(
        z=matrix,
        x=places,
        y=places,
        zmin=-1,
        zmax=1,
        colorscale="RdBu_r",
        colorbar={"thickness": 12},
        customdata=[[[one, other] for other in names] for one in names],
        hovertemplate="%{customdata[0]} and %{customdata[1]}: %{z:.2f}<extra></extra>",
    )
    figure.update_xaxes(tickvals=places, ticktext=names, tickangle=-45, constrain="domain")
    figure.update_yaxes(tickvals=places, ticktext=names, autorange="reversed")
    return figure


def legend(figure: go.Figure) -> go.Figure:
    """Names of the lines above the picture."""
    return figure.update_layout(
        showlegend=True, legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}, margin_t=34
    )
