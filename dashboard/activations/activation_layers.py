"""Which layers the page Activations shows: chosen in the table or the graph, kept beside each other."""

from __future__ import annotations

import json
from collections.abc import Sequence

import streamlit as st

from dashboard import analysis, choices, escape, linked, session, words
from dashboard.architecture import architecture_parts, graph_view, layer_table
from dashboard.architecture.layer_columns import text_width
from dashboard.routes.netron_assets import needs_skeleton
from dashboard.session import View
from stethoscope.types import Architecture

MOST_KEPT = 6
_KEPT = "kept"
_INPUTS = ("InputLayer", "Input", "Placeholder")
_TABLE, _GRAPH = "activation-layers", "activation-graph"


def choose(view: View, architecture: Architecture) -> tuple[str, ...]:
    """Draws the table or the graph; returns the paths chosen: the selected layer first, then those kept beside it."""
    assert view.entry is not None
    _take(architecture)
    known = {layer.path for layer in architecture.layers}
    asked = session.recalled("layer")
    selected = asked if asked is not None and asked.partition("#")[0] in known else default(architecture)
    shown = linked.select("Layers as", {"table": "Table", "graph": "Graph"}, "table", "layers-as")
    if shown == "graph":
        _graph(view, architecture, selected)
    else:
        _table(architecture, selected)
    _kept_ones(architecture, selected)
    beside = [path for path in kept() if path != selected and path.partition("#")[0] in known]
    return (*((selected,) if selected else ()), *beside)


def default(architecture: Architecture) -> str | None:
    """The layer to begin with: the first that has learned something, one with maps if there is any."""
    plain = ("Rescaling", "Normalization", "BatchNormalization", "VarHandleOp", "ReadVariableOp", "Const")
    shown = [layer for layer in architecture.layers if layer.output_shape and layer.type not in (*_INPUTS, *plain)]
    learned = [layer for layer in shown if layer.parameters]
    maps = [layer for layer in shown if len(layer.output_shape or ()) == 4]
    both = [layer for layer in learned if len(layer.output_shape or ()) == 4]
    first = next(iter(both or maps or learned or shown), None)
    return None if first is None else first.path


def kept() -> list[str]:
    """Layers kept beside the selected one, from the address."""
    try:
        found = json.loads(session.recalled(_KEPT) or "[]")
    except ValueError:
        return []
    return [str(path) for path in found[:MOST_KEPT]] if isinstance(found, list) else []


def _keep(paths: Sequence[str]) -> None:
    session.remember(_KEPT, json.dumps(list(dict.fromkeys(paths)), ensure_ascii=False) if paths else None)


def _kept_ones(architecture: Architecture, selected: str | None) -> None:
    beside = kept()
    if selected is not None:
        name = escape.code(selected, 60)
        layer = next((one for one in architecture.layers if one.path == selected), None)
        about = "" if layer is None else f" · {escape.markdown(layer.type)} · {words.shape(layer.output_shape)}"
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"{name}{about}")
            if selected not in beside and len(beside) < MOST_KEPT:
                st.button(
                    "Keep beside others",
                    key="keep-layer",
                    on_click=_keep,
                    args=([*beside, selected],),
                    help="Stays in the pictures while you choose another layer",
                )
    if beside:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption("Kept", width="content")
            for place, path in enumerate(beside):
                st.button(
                    f"{escape.markdown(path, 30)} ✕",
                    key=f"drop-{place}",
                    type="tertiary",
                    help="Leave out again",
                    on_click=_keep,
                    args=([one for one in beside if one != path],),
                )


def _table(architecture: Architecture, selected: str | None) -> None:
    layers = architecture.layers[: layer_table.MAX_ROWS]
    # Names that begin alike are told apart by their ends: every column gives way to them, and the shape leaves the rows out.
    shapes = [words.shape(one.output_shape).removeprefix("batch × ") for one in layers]
    columns = [
        layer_table.Column("name", "Layer", [escape.clip(one.path, 300) for one in layers], width=(9.5, 2.2)),
        layer_table.Column("type", "Type", [escape.clip(one.type) for one in layers], width=(4.2, 1)),
        layer_table.Column("shape", "Output", shapes, about="of one sample", width=(text_width(shapes), 0.4)),
    ]
    text, _ = layer_table.show(
        columns,
        next((place for place, one in enumerate(layers) if one.path == selected), None),
        summary=words.plural(len(architecture.layers), "layer"),
        height=416,
        key=_TABLE,
        text=session.recalled("filter") or "",
    )
    session.remember("filter", text or None)


def _graph(view: View, architecture: Architecture, selected: str | None) -> None:
    assert view.entry is not None
    if needs_skeleton(view.entry) and analysis.skeleton_path(view.entry) is None:
        st.caption("The graph cannot be drawn for this file; choose in the table.")
        return
    graph_view.show(
        view.entry.id,
        view.entry.name,
        theme=st.context.theme.type,
        select=architecture_parts.node_of(architecture, selected),
        start=architecture_parts.start_of(architecture),
        unnamed=architecture_parts.unnamed(architecture),
        height=460,
        panel=False,
        key=_GRAPH,
    )


def _take(architecture: Architecture) -> None:
    components = {_TABLE: layer_table.TOLD, _GRAPH: graph_view.TOLD}
    choice = choices.newest(components)
    if choice is None:
        return
    if choice.key == _TABLE:
        session.remember("layer", _at(architecture, choice.value))
    elif isinstance(choice.value, str):
        session.remember("layer", architecture_parts.layer_of(architecture, choice.value))
    choices.take(components)


def _at(architecture: Architecture, index: object) -> str | None:
    if isinstance(index, int) and 0 <= index < min(len(architecture.layers), layer_table.MAX_ROWS):
        return architecture.layers[index].path
    return None
