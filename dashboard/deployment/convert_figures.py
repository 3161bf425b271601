"""Pictures of a conversion: a measure before and after, and the sizes of several targets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import plotly.graph_objects as go

from dashboard import figures, words

BEFORE, AFTER = figures.GREY, figures.BLUE


def pair(before: float, after: float, say: Callable[[float], str], titles: tuple[str, str]) -> go.Figure:
    """Two bars under each other, with the numbers at their ends.

    Args:
        before: of the source.
        after: of what was made of it, in the same unit.
        say: a number as people read it.
        titles: what the two are called, already escaped for a figure.
    """
    figure = figures.base(104)
    for place, (value, title, colour) in enumerate(((before, titles[0], BEFORE), (after, titles[1], AFTER))):
        figure.add_bar(
            x=[value],
            y=[place],
            orientation="h",
            marker_color=colour,
            width=0.62,
            text=[say(value)],
            textposition="outside",
            cliponaxis=False,
            hovertemplate=f"{title}: {say(value)}<extra></extra>",
        )
    figure.update_yaxes(tickvals=[0, 1], ticktext=list(titles), range=[1.6, -0.6])
    figure.update_xaxes(visible=False, range=[0, 1.38 * max(before, after, 1e-12)])
    return figure


def change(before: float, after: float) -> str:
    """What became of a measure, in a few words: "70 % less", "2.9 × as much"."""
    if before <= 0 or after <= 0:
        return ""
    if after >= 2 * before:
        return f"{words.significant(after / before, 2)} × as much"
    percent = round(100 * abs(after - before) / before)
    return "the same" if not percent else f"{percent} % {'less' if after < before else 'more'}"


def sizes(found: Mapping[str, int], source_bytes: int) -> go.Figure:
    """A bar for each target, the source grey at the top; all on one scale.

    Args:
        found: bytes by the title of the target.
        source_bytes: of the file that was converted.
    """
    rows: Sequence[tuple[str, int, str]] = [
        ("as uploaded", source_bytes, BEFORE),
        *((title, size, AFTER) for title, size in found.items()),
    ]
    figure = figures.base(70 + 26 * len(rows))
    figure.add_bar(
        x=[size for _, size, _ in rows],
        y=list(range(len(rows))),
        orientation="h",
        marker_color=[one for *_, one in rows],
        text=[words.size(size) for _, size, _ in rows],
        textposition="outside",
        cliponaxis=False,
        customdata=[title for title, *_ in rows],
        hovertemplate="%{customdata}: %{text}<extra></extra>",
    )
    figure.update_yaxes(
        tickvals=list(range(len(rows))), ticktext=[title for title, *_ in rows], range=[len(rows) - 0.4, -0.6]
    )
    figure.update_xaxes(visible=False, range=[0, 1.2 * max(size for _, size, _ in rows)])
    return figure
