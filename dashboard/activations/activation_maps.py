"""Feature maps: what each channel of a layer sees in the sample, side by side; a click shows one large."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from dashboard import escape, figures, linked, words
from dashboard.activations import activation_figures, activation_looks, map_grid
from dashboard.activations.activation_input import Input
from dashboard.activations.activation_looks import Look
from dashboard.activations.map_grid import picked as picked_map
from stethoscope.types import Architecture

PER_PAGE = 48
MOST_SAMPLES = 4
"""Samples shown one after another."""
SCALES = {"shared": "One scale for all", "own": "Each its own scale", "around_zero": "One scale around 0"}
ORDERS = {"strongest": "Strongest first", "place": "In the layer's order"}
_MAP = "map"
_FLAT = "This layer's output has no height and width, so there are no maps: see the view Values."


def show(given: Input, layers: Sequence[str]) -> None:
    """The view Feature maps of the page Activations."""
    if not layers:
        st.caption("Choose a layer on the left.")
        return
    row = st.grid(3, min_column_width=150, vertical_alignment="bottom")
    with row.cell():
        scale = linked.select("Colours", SCALES, "shared", "map-scale")
    with row.cell():
        order = linked.select("Order", ORDERS, "strongest", "map-order")
    pager = row.cell()
    for path in layers:
        if is_flat(given.architecture, path):
            st.caption(f"{escape.code(path, 60)}: {_FLAT}")
    drawn = [path for path in layers if not is_flat(given.architecture, path)]
    asked = activation_looks.ask(given, drawn, given.places[:MOST_SAMPLES]) if drawn else None
    if asked is None:
        return
    looks, result = asked
    activation_looks.unreachable(result, layers)
    picked_map.take(_MAP, len(looks), prefix="maps-")
    most = max((one.values.shape[0] for one in looks if one.kind == "maps"), default=0)
    page = _page(pager, most)
    for place, look in enumerate(looks):
        activation_looks.heading(look, given)
        if look.kind == "maps":
            _maps(look, place, scale, order, page)
        else:
            st.caption(_no_maps(look))


def _no_maps(look: Look) -> str:
    if look.kind == "attention":
        return "These are attention scores: see the view Attention."
    return _FLAT


def is_flat(architecture: Architecture, path: str) -> bool:
    """Whether the file itself says that a layer's output has no height and width."""
    shape = next((one.output_shape for one in architecture.layers if one.path == path.partition("#")[0]), None)
    return shape is not None and len(shape) < 4


def _page(cell: st.delta_generator.DeltaGenerator, most: int) -> int:
    pages = max(1, -(-most // PER_PAGE))
    if pages == 1:
        return 0
    return int(cell.number_input(f"Page (of {pages})", 1, pages, 1, key="map-page")) - 1


def _maps(look: Look, place: int, scale: str, order: str, page: int) -> None:
    everything = np.asarray(look.values, np.float32)
    channels = len(everything)
    numbers = look.channels or range(channels)
    strength = np.nan_to_num(np.abs(everything)).mean(axis=(1, 2))
    ordered = np.argsort(-strength, kind="stable") if order == "strongest" else np.arange(channels)
    shown = ordered[page * PER_PAGE : (page + 1) * PER_PAGE]
    if not shown.size:
        st.caption("This layer has no more maps.")
        return
    picked = picked_map.picked(_MAP, place)
    limits = activation_figures.extent(everything.astype(np.float64), around_zero=False)
    dead = int((strength == 0).sum())
    note = f"{words.plural(channels, 'channel')}" + (f", {words.count(dead)} all zero for this sample" if dead else "")
    map_grid.show(
        everything[shown],
        [int(one) for one in shown],
        [str(numbers[one]) for one in shown],
        scale=scale,
        picked=picked,
        limits=limits if limits[1] > limits[0] else None,
        side=64 if channels > 24 else 92,
        title=f"Feature maps of {look.layer}",
        note=note,
        key=f"maps-{place}",
    )
    if picked is not None and picked < channels:
        st.markdown(f"**Channel {words.count(numbers[picked])}**")
        figure = activation_figures.matrix(
            everything[picked],
            down="y",
            across="x",
            value="activation",
            around_zero=scale == "around_zero",
            square=True,
            height=420,
        )
        st.plotly_chart(
            figure, config=figures.CONFIG, key=f"map-large-{place}", alt=f"Channel {picked} of the layer, large"
        )
