"""What happens inside it on this sample?"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from dashboard import described, linked, own_code, render, run_limits, session
from dashboard.activations import (
    activation_attention,
    activation_compare,
    activation_input,
    activation_layers,
    activation_maps,
    activation_projection,
    activation_similarity,
    activation_statistics,
    activation_values,
    attribution_parts,
)
from dashboard.activations.activation_input import Input
from stethoscope.types import Architecture

PAGE = {"title": "Activations", "section": "Model", "url_path": "activations", "icon": ""}
View = Callable[[Input, Sequence[str]], None]
VIEWS: dict[str, tuple[str, View]] = {
    "maps": ("Feature maps", activation_maps.show),
    "values": ("Values", activation_values.show),
    "attention": ("Attention", activation_attention.show),
    "why": ("Attribution", attribution_parts.show),
    "statistics": ("Statistics", activation_statistics.show),
    "similarity": ("Similarity", activation_similarity.show),
    "projection": ("Projection", activation_projection.show),
    "compare": ("Compare", activation_compare.show),
}


def ready(view: session.View, architecture: Architecture) -> None:
    """The samples, the layers, and the view of them that is chosen."""
    allowed = own_code.allowed(view, architecture)
    if not run_limits.runnable(architecture):
        return
    with st.container(border=True):
        given = activation_input.choose(view, architecture)
    if given is None or not allowed:
        return
    halves = st.grid(3, min_column_width=300, gap=("small", 16))
    left, right = halves.cell(), halves.cell(column_span=2)
    with left:
        layers = activation_layers.choose(view, architecture)
    with right:
        titles = {name: title for name, (title, _) in VIEWS.items()}
        VIEWS[linked.segments("View", titles, _first_view(architecture), "look")][1](given, layers)


def _first_view(architecture: Architecture) -> str:
    """Feature maps where the layer to begin with has any; else opening the model would only tell that there are none."""
    first = activation_layers.default(architecture)
    return "values" if first is not None and activation_maps.is_flat(architecture, first) else "maps"


def page() -> None:
    """The question, then whatever can be said about it."""
    view = session.current()
    render.question("What happens inside it on this sample?")
    architecture = described.architecture(view)
    if architecture is not None:
        ready(view, architecture)


page()
