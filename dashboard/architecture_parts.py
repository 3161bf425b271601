"""The Architecture page's parts: the layer table with its selection, and one layer in detail."""

from __future__ import annotations

import json
from collections.abc import Sequence

import streamlit as st

from dashboard import escape, session, tables, words
from stethoscope.types import Architecture, Layer

MAX_ROWS = 20_000


def matching_rows(architecture: Architecture, text: str, selected: str | None) -> list[Layer]:
    """Layers that match the filter; the selected one stays visible."""
    rows = tables.matching(architecture.layers, text)[:MAX_ROWS]
    if selected and text and all(layer.path != selected for layer in rows):
        rows = [layer for layer in architecture.layers if layer.path == selected] + rows
    return rows


def layer_of(architecture: Architecture, node: str) -> str:
    """The path of the layer that a node of the graph stands for; nodes of a nested model stand for themselves.

    The graph knows TFLite operators by their position only.
    """
    if architecture.format_id == "tflite" and node.isdecimal() and int(node) < len(architecture.layers):
        return architecture.layers[int(node)].path
    return node


def layer_table(architecture: Architecture, rows: Sequence[Layer], selected: str | None, height: int, key: str) -> None:
    """Draws the table with the layer of the address selected; a click in it changes the address."""
    if not rows:
        st.caption("No layer matches this filter.")
        return
    index = next((place for place, layer in enumerate(rows) if layer.path == selected), None)
    wanted = [] if index is None else [index]
    kept = st.session_state.get(key)
    if kept is None or list(kept["selection"]["rows"]) != wanted:
        st.session_state[key] = {"selection": {"rows": wanted}}
    st.dataframe(
        tables.layers(rows, architecture.parameters),
        hide_index=True,
        height=min(height, 33 * (len(rows) + 1) + 3),
        column_config=tables.LAYER_COLUMNS,
        key=key,
        on_select=lambda: _picked(key, rows),
        selection_mode="single-row",
    )


def _picked(key: str, rows: Sequence[Layer]) -> None:
    picked = st.session_state[key]["selection"]["rows"]
    session.remember("layer", rows[picked[0]].path if picked and picked[0] < len(rows) else None)


def details(architecture: Architecture, layer: Layer) -> None:
    """One layer: what it is, what it reads and feeds, its settings."""
    with st.container(border=True):
        st.markdown(f"{escape.code(layer.path)} · {escape.markdown(layer.type)}")
        share = words.share(layer.parameters, architecture.parameters)
        facts = [
            f"output {words.shape(layer.output_shape)}",
            f"{words.plural(layer.parameters, 'parameter')} ({share})",
        ]
        if layer.parameters and architecture.trainable_parameters is not None:
            facts.append(f"{words.count(layer.trainable_parameters)} trainable")
        if layer.dtype:
            facts.append(escape.markdown(layer.dtype))
        st.caption(" · ".join(facts))
        feeds = [target for source, target in architecture.edges if source == layer.path]
        known = {other.path for other in architecture.layers}
        _neighbours("Reads", [name for name in layer.inputs if name in known])
        _neighbours("Feeds", feeds)
        if layer.config:
            with st.expander("Settings"):
                st.code(json.dumps(dict(layer.config), indent=2, ensure_ascii=False)[:20_000], language="json")


def _neighbours(label: str, names: Sequence[str]) -> None:
    if not names:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        st.caption(label, width="content")
        for place, name in enumerate(names[:12]):
            st.button(
                escape.markdown(name, 40),
                key=f"{label}-{place}-{name}",
                type="tertiary",
                on_click=session.remember,
                args=("layer", name),
            )
        if len(names) > 12:
            st.caption(f"and {words.count(len(names) - 12)} more")
