"""Values of layers without places: units of dense layers, units over time, and what no other view shows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from dashboard import escape, figures, linked, words
from dashboard.activations import activation_figures, activation_looks
from dashboard.activations.activation_input import Input
from dashboard.activations.activation_looks import Look

MOST_SAMPLES = 4
"""Samples shown one after another."""
_MOST_CURVES = 6
SHOWN_AS = {"heat": "Colours", "curves": "Curves"}


def show(given: Input, layers: Sequence[str]) -> None:
    """The view Values of the page Activations."""
    if not layers:
        st.caption("Choose a layer on the left.")
        return
    asked = activation_looks.ask(given, layers, given.places[:MOST_SAMPLES])
    if asked is None:
        return
    looks, result = asked
    activation_looks.unreachable(result, layers)
    way = "heat"
    if any(look.kind == "sequence" for look in looks):
        way = linked.select("Sequences as", SHOWN_AS, "heat", "sequence-as")
    for place, look in enumerate(look for look in looks if look.kind != "attention"):
        activation_looks.heading(look, given)
        _draw(look, place, way)


def _draw(look: Look, place: int, way: str) -> None:
    values = np.asarray(look.values, np.float64)
    if values.ndim == 0 or values.size == 1:
        st.markdown(f"**{words.significant(float(values.reshape(-1)[0]))}**")
        return
    if values.ndim == 1:
        figure = activation_figures.units({look.layer: values}, across="unit")
        alt = "The value of each unit"
    elif values.ndim == 2 and look.kind == "sequence" and way == "curves":
        figure, alt = _curves(values), "The units that vary most, over time"
    else:
        flat = values.reshape(values.shape[0], -1) if look.kind != "maps" else _mean_map(values)
        down, across = ("position", "unit") if look.kind == "sequence" else ("row", "column")
        if look.kind == "maps":
            down, across = "y", "x"
            st.caption("The mean over all channels; single channels are in the view Feature maps.")
        both = bool((values < 0).any()) and bool((values > 0).any())
        figure = activation_figures.matrix(
            flat,
            down=down,
            across=across,
            value="activation",
            around_zero=both,
            square=look.kind == "maps",
            height=min(640, max(260, 120 + 12 * flat.shape[0])),
        )
        alt = "The layer's output as colours"
    st.plotly_chart(figure, config=figures.CONFIG, key=f"values-{place}", alt=alt)
    finite = values[np.isfinite(values)]
    if finite.size > 16:
        counts, edges = np.histogram(finite, bins=60)
        zero = float((values == 0).mean())
        facts = [
            f"mean {words.significant(float(finite.mean()))}",
            f"standard deviation {words.significant(float(finite.std()))}",
        ]
        facts += [f"{words.share(zero, 1.0)} exactly 0"] if zero else []
        st.caption(" · ".join(facts))
        st.plotly_chart(
            activation_figures.histogram(edges.tolist(), counts.tolist()),
            config=figures.CONFIG,
            key=f"histogram-{place}",
            alt=f"Histogram of the output of {escape.clip(look.layer)}",
        )


def _mean_map(
    values: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    found: np.ndarray[tuple[int, ...], np.dtype[np.float64]] = values.mean(axis=0)
    return found


def _curves(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> go.Figure:
    spread = np.nan_to_num(values.std(axis=0))
    chosen = np.argsort(-spread, kind="stable")[:_MOST_CURVES]
    # Bars would hide each other: always lines over time.
    figure = figures.base(320, showlegend=True)
    colours = (figures.BLUE, figures.ORANGE, figures.GREEN, figures.PURPLE, figures.SKY, figures.VERMILION)
    for place, unit in enumerate(chosen):
        figure.add_scatter(
            x=np.arange(len(values)),
            y=values[:, unit],
            mode="lines",
            name=f"unit {unit}",
            line={"color": colours[place], "width": 1.4},
            hovertemplate="position %{x}<br>%{y:.4g}",
        )
    figure.update_layout(legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}, margin_t=30)
    figure.update_xaxes(title_text="Position")
    figure.update_yaxes(title_text=f"Activation of the {len(chosen)} units that vary most")
    return figure
