"""What is this model made of?"""

from __future__ import annotations

import streamlit as st

from dashboard import analysis, architecture_parts, described, escape, graph_view, render, session, words
from stethoscope.store import Entry
from stethoscope.types import Architecture

PAGE = {"title": "Architecture", "section": "Model", "url_path": "architecture", "icon": ""}
HEIGHT = 640


def graph(entry: Entry, architecture: Architecture, selected: str | None) -> None:
    """Netron on the model without its weights; a click in it selects the layer."""
    skeleton = analysis.skeleton_path(entry)
    if skeleton is None:
        render.empty("The graph cannot be drawn for this file; the table beside it lists what is known.")
        return
    name, path = skeleton
    clicked = graph_view.show(
        entry.id, name, theme=st.context.theme.type, select=selected, height=HEIGHT, key=f"graph-{entry.id}"
    )
    if clicked and clicked != st.session_state.get(f"_clicked-{entry.id}"):
        st.session_state[f"_clicked-{entry.id}"] = clicked
        session.remember("layer", architecture_parts.layer_of(architecture, clicked))
        st.rerun()
    if path.stat().st_size < entry.size_bytes:
        st.caption("Drawn without the weights: shapes are shown, values are not.")


def table(entry: Entry, architecture: Architecture, selected: str | None) -> None:
    """Every layer as a row, with a filter; a click selects it in the graph."""
    text = st.text_input("Filter layers", key="filter", bind="query-params", placeholder="Filter by name or type")
    rows = architecture_parts.matching_rows(architecture, text, selected)
    architecture_parts.layer_table(architecture, rows, selected, height=HEIGHT - 90, key=f"layers-{entry.id}-{text}")
    total = words.plural(len(architecture.layers), "layer")
    st.caption(
        f"{words.count(len(rows))} of {total}"
        if text
        else f"{total}, {words.plural(architecture.parameters, 'parameter')}"
    )


def page() -> None:
    """Graph and table side by side, the selected layer below."""
    view = session.current()
    render.question("What is this model made of?")
    architecture = described.architecture(view, say_if_partial=True)
    if view.entry is None or architecture is None:
        return
    selected = session.recalled("layer")
    halves = st.grid(9, min_column_width=84, gap=("small", 16))
    left, right = halves.cell(column_span=5), halves.cell(column_span=4)
    with right:
        table(view.entry, architecture, selected)
    with left:
        graph(view.entry, architecture, selected)
    layer = next((layer for layer in architecture.layers if layer.path == selected), None)
    if layer is not None:
        architecture_parts.details(architecture, layer)
    elif selected:
        st.caption(f"{escape.code(selected)} is in the graph, but is not a layer of its own in the table.")
    else:
        st.caption("Click a layer, in the graph or in the table, to see its settings.")


page()
