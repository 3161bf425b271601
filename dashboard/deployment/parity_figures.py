"""Pictures of a comparison: the difference by depth, with the tolerance and the layer at which two models part."""

from __future__ import annotations

import math
from collections.abc import Sequence

import plotly.graph_objects as go

from dashboard import escape, figures, words
from dashboard.deployment.parity_layers import LayerPair

EXPLAINED, PARTED, UNEXPLAINED = figures.BLUE, figures.VERMILION, figures.ORANGE
_FEW = 14
"""Layers up to which all of their names are written at the axis."""
_LEAST = 1e-9


def by_depth(found: Sequence[LayerPair], tolerance: float | None) -> go.Figure:
    """Relative difference of each layer that both models have, in the order of the first model, on a logarithmic scale.

    Identical layers lie at the bottom, values that are no numbers at the top as crosses.

    Args:
        found: the layers; those without an answer of their own are left out.
        tolerance: what the outputs may be off by, as a share.
    """
    shown = [one for one in found if not one.merged]
    offs = [one.nrmse for one in shown if one.nrmse]
    bottom = max(_LEAST, min([*offs, tolerance or 1.0]) / 3)
    top = max([*offs, tolerance or bottom]) * 4
    # A point at the bottom stands for "identical": its logarithm is nowhere.
    heights = [top / 1.5 if one.nrmse is None else max(one.nrmse, bottom) for one in shown]
    figure = figures.base(340)
    figure.add_scatter(
        x=list(range(len(shown))),
        y=heights,
        mode="lines+markers",
        line={"color": figures.GREY, "width": 1.5},
        marker={
            "color": [_colour(one) for one in shown],
            "size": [13 if one.parted else 8 for one in shown],
            "symbol": ["x" if one.nrmse is None else "diamond" if one.parted else "circle" for one in shown],
        },
        customdata=[_said(one) for one in shown],
        hovertemplate="%{customdata}<extra></extra>",
    )
    parting = next((place for place, one in enumerate(shown) if one.parted), None)
    if tolerance:
        # Behind where they part everything lies above the line; where they do not, below it.
        below = parting is not None
        text = "what the outputs may be off by"
        figures.limit_line(figure, tolerance, text, side="right" if below else "left", below=below, log=True)
    if parting is not None:
        right = parting > len(shown) / 2
        figure.add_vline(x=parting, line={"color": PARTED, "width": 1, "dash": "dot"})
        figure.add_annotation(
            x=parting,
            y=1,
            yref="paper",
            yanchor="bottom",
            xanchor="right" if right else "left",
            showarrow=False,
            text=f"they part at {escape.figure(shown[parting].a, 32)}",
            font={"color": PARTED},
        )
    step = max(1, -(-len(shown) // _FEW))
    places = list(range(0, len(shown), step))
    figure.update_xaxes(
        title_text="Layers of the first model, from input to output",
        tickvals=places,
        ticktext=[escape.figure(shown[place].a.rsplit("/", 1)[-1], 18) for place in places],
        range=[-0.5, len(shown) - 0.5],
    )
    figure.update_yaxes(
        title_text="Difference (share of the layer's values)",
        type="log",
        range=[math.log10(bottom / 1.6), math.log10(top)],
        **figures.log_ticks(bottom, top),
    )
    return figure.update_layout(margin_t=28)


def _colour(one: LayerPair) -> str:
    return PARTED if one.parted else EXPLAINED if one.same or one.follows else UNEXPLAINED


def _said(one: LayerPair) -> str:
    off = (
        "no number"
        if one.nrmse is None
        else "identical"
        if not one.nrmse
        else f"off by {words.significant(one.nrmse)} of its values"
    )
    turned = f"<br>compared as {escape.figure(one.orientation)}" if one.orientation else ""
    return f"{escape.figure(one.a)}<br>in the other: {escape.figure(one.b)}<br>{off}; {_why(one)}{turned}"


def _why(one: LayerPair) -> str:
    if one.parted:
        return "the models part here"
    if one.same:
        return "explained by what goes in and by the precision"
    return "it lies behind where they part" if one.follows else "more than what goes in explains"
