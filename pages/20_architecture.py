"""What is this model made of?"""

from __future__ import annotations

import streamlit as st

from dashboard import analysis, architecture_parts, choices, described, escape, graph_view, layer_table, render, session
from dashboard.routes.netron_assets import needs_skeleton
from stethoscope.store import Entry
from stethoscope.types import Architecture

PAGE = {"title": "Architecture", "section": "Model", "url_path": "architecture", "icon": ""}
GRAPH_HEIGHT = 690
TABLE_HEIGHT = 384


def graph(entry: Entry, architecture: Architecture, selected: str | None) -> None:
    """Netron on the model, large ones without their weights; a click in it selects the layer."""
    small = needs_skeleton(entry)
    if small and analysis.skeleton_path(entry) is None:
        render.empty("The graph cannot be drawn for this file; the table lists what is known.")
        return
    graph_view.show(
        entry.id,
        entry.name,
        theme=st.context.theme.type,
        select=architecture_parts.node_of(architecture, selected),
        start=architecture_parts.start_of(architecture),
        unnamed=architecture_parts.unnamed(architecture),
        height=GRAPH_HEIGHT,
        key=f"graph-{entry.id}",
    )
    if small:
        st.caption("Drawn without the weights: shapes are shown, values are not.")


def table(entry: Entry, architecture: Architecture, selected: str | None) -> None:
    """Every layer as a row, with a filter; a click selects it in the graph."""
    text = session.recalled("filter") or ""
    text = layer_table.show(architecture, selected, text=text, height=TABLE_HEIGHT, key=f"layers-{entry.id}")
    session.remember("filter", text or None)


def selection(entry: Entry, architecture: Architecture) -> str | None:
    """The layer that is selected: the one clicked last, in graph or table, else the one in the address."""
    graph_key, table_key = f"graph-{entry.id}", f"layers-{entry.id}"
    components = {graph_key: graph_view.TOLD, table_key: layer_table.TOLD}
    choice = choices.newest(components)
    if choice is not None:
        if choice.key == table_key:
            session.remember("layer", layer_table.layer_at(architecture, choice.value))
        elif isinstance(choice.value, str):
            session.remember("layer", architecture_parts.layer_of(architecture, choice.value))
        choices.take(components)
    return session.recalled("layer")


def details(architecture: Architecture, selected: str | None) -> None:
    """The selected layer, or how to select one."""
    layer = next((layer for layer in architecture.layers if layer.path == selected), None)
    if layer is not None:
        architecture_parts.details(architecture, layer)
    elif selected:
        st.caption(
            f"{escape.code(selected)} is not a layer of its own in the table; if it is part of one, the graph shows it."
        )
    elif architecture.layers:
        st.caption("Click a layer, in the graph or in the table, to see its settings.")


def page() -> None:
    """The graph on one side; the table and the selected layer on the other."""
    view = session.current()
    render.question("What is this model made of?")
    architecture = described.architecture(view, say_if_partial=True)
    if view.entry is None or architecture is None:
        return
    halves = st.grid(12, min_column_width=66, gap=("small", 16))
    left, right = halves.cell(column_span=6), halves.cell(column_span=6)
    with right:
        selected = selection(view.entry, architecture)
        table(view.entry, architecture, selected)
        details(architecture, selected)
    with left:
        graph(view.entry, architecture, selected)


page()
