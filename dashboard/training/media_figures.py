"""Pictures of histograms over the steps of a training, as ridges and as a heat map, and of precision against recall."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import plotly.colors
import plotly.graph_objects as go
import streamlit as st

from dashboard import escape, figures
from stethoscope.tasks.read_media import binned, whole

RIDGES = 40
"""Steps drawn as ridges; more would hide each other."""
_HIGHEST, _OF_ALL = 3.2, 0.3
"""Of the highest ridge, in distances between two, and as a share of all of them where they are few."""
_TICKS = 12
Doubles = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Steps:
    """Histograms of one run over common bins."""

    position: Doubles
    """Where each step is on the axis: shape (steps,)."""
    shown: Sequence[str]
    """The same in words."""
    share: Doubles
    """Of the values in each bin: shape (steps, bins)."""
    edges: Doubles
    """Shape (bins + 1,)."""
    broken: npt.NDArray[np.bool_]
    """Steps none of whose values is a number."""

    @classmethod
    def of(
        cls, position: Sequence[float], shown: Sequence[str], histograms: Sequence[Doubles], edges: Doubles
    ) -> Steps:
        """Histograms of the shape (buckets, 3) over the bins between `edges`."""
        share = np.array([binned(one, edges) for one in histograms]).reshape(len(histograms), len(edges) - 1)
        broken = np.array([not len(whole(one)) for one in histograms], bool)
        return cls(np.asarray(position, np.float64), shown, share, edges, broken)


def ridges(steps: Steps, axis: str, height: int = 430) -> go.Figure:
    """One ridge per step, the newest in front."""
    figure = figures.base(height)
    count = len(steps.position)
    places = np.unique(np.linspace(0, count - 1, min(count, RIDGES)).round().astype(int))
    low, high = float(steps.position[0]), float(steps.position[-1])
    distance = (high - low) / max(len(places) - 1, 1) or 1.0
    most = float(steps.share[places].max(initial=0)) or 1.0
    reach = min(_HIGHEST, max(_OF_ALL * (len(places) - 1), 0.8)) * distance
    scale = 0.97 * reach / most
    middle = (steps.edges[1:] + steps.edges[:-1]) / 2
    ends = np.concatenate([middle[:1], middle, middle[-1:]])
    dark = st.context.theme.type == "dark"
    colours = plotly.colors.sample_colorscale("Cividis", (0.15 + 0.8 * places / max(count - 1, 1)).tolist())
    rim = "rgba(14,17,23,0.75)" if dark else "rgba(255,255,255,0.8)"
    for place, colour in zip(places.tolist(), colours, strict=True):
        share = np.concatenate([[0.0], steps.share[place], [0.0]])
        figure.add_scatter(
            x=ends,
            y=steps.position[place] - scale * share,
            mode="lines",
            fill="toself",
            fillcolor=colour,
            line={"color": rim, "width": 1},
            customdata=100 * share,
            name=steps.shown[place],
            hovertemplate=f"{escape.figure(steps.shown[place])}<br>about %{{x:.4g}}: %{{customdata:.2f}} %<extra></extra>",
        )
    figure.update_xaxes(title_text="Value", range=[steps.edges[0], steps.edges[-1]])
    _crosses(figure, steps, np.full(len(steps.position), middle[len(middle) // 2]), steps.position)
    ticks = steps.position[places[:: -(-len(places) // _TICKS)]]
    figure.update_yaxes(title_text=axis, range=[high + 0.3 * distance, low - reach], showgrid=False, tickvals=ticks)
    return figure


def heat_map(steps: Steps, axis: str, height: int = 430, *, logarithmic: bool = False) -> go.Figure:
    """Steps across, values up, the share of values as colour; a line for the median, a cross where there is only NaN."""
    figure = figures.base(height)
    percent = 100 * steps.share.T
    shown = np.where(percent > 0, percent, np.nan)
    colour = np.log10(shown) if logarithmic else shown
    ticks = {}
    if logarithmic and np.isfinite(colour).any():
        powers = range(int(np.floor(np.nanmin(colour))), int(np.ceil(np.nanmax(colour))) + 1)
        ticks = {"tickvals": list(powers), "ticktext": [f"{10.0**power:g}" for power in powers]}
    middle = (steps.edges[1:] + steps.edges[:-1]) / 2
    words = np.broadcast_to(np.array([escape.figure(one) for one in steps.shown], dtype=object), percent.shape)
    figure.add_heatmap(
        x=steps.position,
        y=middle,
        z=colour,
        colorscale="Cividis",
        hoverongaps=False,
        customdata=np.dstack([words, percent]),
        colorbar={"title": {"text": "% of values", "side": "right"}, "thickness": 12, **ticks},
        hovertemplate="%{customdata[0]}<br>about %{y:.4g}: %{customdata[1]:.2f} %<extra></extra>",
    )
    median = _median(steps)
    known = np.isfinite(median)
    if known.any():
        figure.add_scatter(
            x=steps.position,
            y=np.where(known, median, np.nan),
            mode="lines" if known.sum() > 1 else "markers",
            line={"color": figures.VERMILION, "width": 1.6},
            text=list(steps.shown),
            hovertemplate="%{text}<br>median about %{y:.4g}<extra></extra>",
        )
    _crosses(figure, steps, steps.position, np.full(len(steps.position), middle[-1]))
    figure.update_xaxes(title_text=axis, showgrid=False)
    figure.update_yaxes(title_text="Value", showgrid=False, range=[steps.edges[0], steps.edges[-1]])
    return figure


def _crosses(figure: go.Figure, steps: Steps, x: Doubles, y: Doubles) -> None:
    """Marks the steps that have no number at all."""
    if steps.broken.any():
        figure.add_scatter(
            x=x[steps.broken],
            y=y[steps.broken],
            mode="markers",
            cliponaxis=False,
            marker={"symbol": "x", "size": 9, "color": figures.VERMILION},
            text=[one for one, bad in zip(steps.shown, steps.broken, strict=True) if bad],
            hovertemplate="%{text}<br>no value is a number<extra></extra>",
        )


def _median(steps: Steps) -> Doubles:
    """Where half of the values within the bins lie below: shape (steps,); NaN where there are none."""
    below = np.cumsum(steps.share, axis=1)
    total = below[:, -1]
    found = np.full(len(below), np.nan)
    for row in np.flatnonzero(total > 0):
        reached = np.concatenate([[0.0], below[row]])
        at = int(np.searchsorted(reached, total[row] / 2)) - 1
        part = (total[row] / 2 - reached[at]) / steps.share[row, at]
        found[row] = steps.edges[at] + part * (steps.edges[at + 1] - steps.edges[at])
    return found


def precision_recall(curves: Sequence[tuple[str, Doubles]]) -> go.Figure:
    """Precision over recall, a line per run: (name, rows of precision and recall)."""
    figure = figures.base(360, showlegend=len(curves) > 1)
    for (name, rows), colour in zip(
        curves, (figures.BLUE, figures.ORANGE, figures.GREEN, figures.PURPLE), strict=False
    ):
        figure.add_scatter(
            x=rows[:, 1],
            y=rows[:, 0],
            mode="lines+markers",
            name=escape.figure(name),
            line={"color": colour, "width": 1.8},
            marker={"size": 4},
            hovertemplate=f"{escape.figure(name)}<br>recall %{{x:.3f}}, precision %{{y:.3f}}<extra></extra>",
        )
    figure.update_xaxes(title_text="Recall", range=[-0.02, 1.02])
    figure.update_yaxes(title_text="Precision", range=[-0.02, 1.02])
    return figure.update_layout(legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}, margin_t=30)
