"""What is this model made of?"""

from __future__ import annotations

import streamlit as st

from dashboard import analysis, choices, described, escape, render, session, words
from dashboard.architecture import (
    architecture_graph,
    architecture_layer,
    architecture_parts,
    architecture_settings,
    compared_models,
    foreign_graph,
    graph_view,
    layer_columns,
    layer_table,
    weights_alone,
)
from dashboard.architecture.architecture_settings import Shown
from dashboard.session import View
from stethoscope.jobs.store import Entry
from stethoscope.models.formats import format_of
from stethoscope.types import Architecture

PAGE = {"title": "Architecture", "section": "Model", "url_path": "architecture", "icon": ""}
TABLE_HEIGHT = 416


def selection(entry: Entry, architecture: Architecture) -> str | None:
    """The layer that is selected: the one clicked last, in graph or table, else the one in the address."""
    graph_key, table_key = f"graph-{entry.id}", f"layers-{entry.id}"
    components = {graph_key: graph_view.TOLD, table_key: layer_table.TOLD}
    choice = choices.newest(components)
    if choice is not None:
        if choice.key == table_key:
            session.remember("layer", architecture_parts.layer_at(architecture, choice.value))
        elif isinstance(choice.value, str):
            session.remember("layer", architecture_parts.layer_of(architecture, choice.value))
        choices.take(components)
    return session.recalled("layer")


def table(entry: Entry, architecture: Architecture, shown: Shown, selected: str | None) -> None:
    """Every layer as a row, with a filter; a click selects it in the graph."""
    count = words.plural(len(architecture.layers), "layer")
    text, sort = layer_table.show(
        layer_columns.columns(architecture, shown.measures, shown.columns),
        architecture_parts.place_of(architecture, selected),
        summary=f"{count}, {words.plural(architecture.parameters, 'parameter')}",
        height=TABLE_HEIGHT,
        key=f"layers-{entry.id}",
        text=session.recalled("filter") or "",
        sort=session.recalled("sort") or "",
        colours=shown.row_colours(architecture),
        graphs=[architecture_parts.in_table(architecture, f"graph-{entry.id}")],
    )
    session.remember("filter", text or None)
    session.remember("sort", sort or None)


def details(view: View, architecture: Architecture, shown: Shown, selected: str | None) -> None:
    """The selected layer, or how to select one."""
    layer = next((layer for layer in architecture.layers if layer.path == selected), None)
    if layer is not None:
        architecture_layer.details(view, architecture, layer, shown.measures, shown.batch, shown.sizes)
    elif selected:
        st.caption(
            f"{escape.code(selected)} is not a layer of its own in the table; if it is part of one, the graph shows it."
        )
    elif architecture.layers:
        st.caption("Click a layer, in the graph or in the table, to see its settings.")


def one_model(view: View, architecture: Architecture) -> None:
    """The graph on one side; the table and the selected layer on the other."""
    assert view.entry is not None
    shown = architecture_settings.choose(view.entry, architecture)
    halves = st.grid(12, min_column_width=66, gap=("small", 16))
    left, right = halves.cell(column_span=6), halves.cell(column_span=6)
    with right:
        selected = selection(view.entry, architecture)
        table(view.entry, architecture, shown, selected)
        architecture_settings.totals(architecture, shown)
        details(view, architecture, shown, selected)
    with left:
        architecture_graph.show(view.entry, architecture, shown, selected)


def page() -> None:
    """One model, or two beside each other."""
    view = session.current()
    title, compare = st.columns([5, 2], vertical_alignment="center")
    with title:
        render.question("What is this model made of?")
    state = None if view.entry is None else analysis.describe(view.entry)
    if view.entry is not None and state is not None and foreign_graph.only_drawn(view.entry, state):
        foreign_graph.show(view.entry, state)
        return
    architecture = described.architecture(view, state, say_if_partial=True, weights_too=True)
    if view.entry is None or state is None or architecture is None:
        return
    with compare:
        other = compared_models.choose(view)
    if other is None and format_of(architecture).only_weights:
        weights_alone.show(view, state)
    elif other is None:
        one_model(view, architecture)
    else:
        compared_models.show(view, other, architecture)


page()
