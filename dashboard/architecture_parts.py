"""The Architecture page's parts: how layers and drawn nodes name each other, and one layer in detail."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

import streamlit as st

from dashboard import escape, session, words
from stethoscope.types import Architecture, Layer

_SHOWN_NEIGHBOURS = 6


def layer_of(architecture: Architecture, node: str) -> str:
    """The path of the layer that a node of the graph stands for; nodes of a nested model stand for themselves.

    The graph knows TFLite operators by their position only.
    """
    if architecture.format_id == "tflite" and node.isdecimal() and int(node) < len(architecture.layers):
        return architecture.layers[int(node)].path
    return node


def node_of(architecture: Architecture, path: str | None) -> str | None:
    """The node of the graph that draws a layer: the reverse of `layer_of`."""
    if architecture.format_id == "tflite":
        places = (place for place, layer in enumerate(architecture.layers) if layer.path == path)
        return next((str(place) for place in places), path)
    return path


def start_of(architecture: Architecture) -> str | None:
    """The node whose graph a SavedModel opens on: what it serves, not how it reads its variables."""
    if architecture.format_id != "saved_model":
        return None
    return next((layer.path for layer in architecture.layers if layer.inputs), None)


def unnamed(architecture: Architecture) -> list[str]:
    """Paths that may stand for nameless ONNX nodes: the operator and its position, as in "Relu_5"."""
    if architecture.format_id != "onnx":
        return []
    found = []
    for layer in architecture.layers:
        operator = re.escape(layer.type.rsplit(".", 1)[-1])
        if re.fullmatch(rf"{operator}(_\d+)+", layer.path.rsplit("/", 1)[-1]):
            found.append(layer.path)
    return found


def details(architecture: Architecture, layer: Layer) -> None:
    """One layer: what it is, what it reads and feeds, its settings."""
    with st.container(border=True, gap="xsmall"):
        st.markdown(f"{escape.code(layer.path, 200)} · {escape.markdown(layer.type)}")
        share = words.share(layer.parameters, architecture.parameters)
        facts = [f"output {words.shape(layer.output_shape)}"]
        if layer.dtype:
            facts.append(escape.markdown(layer.dtype))
        if layer.parameters:
            facts.append(f"{words.plural(layer.parameters, 'parameter')} ({share} of the model)")
            trainable = layer.trainable_parameters
            if architecture.trainable_parameters is not None and trainable != layer.parameters:
                facts.append(f"{words.count(trainable)} trainable" if trainable else "frozen")
        else:
            facts.append("no parameters")
        st.caption(" · ".join(facts))
        feeds = [target for source, target in architecture.edges if source == layer.path]
        known = {other.path for other in architecture.layers}
        _neighbours("Reads", [name for name in layer.inputs if name in known])
        _neighbours("Feeds", feeds)
        if layer.config:
            with st.expander("Settings"):
                _settings(layer)


def _settings(layer: Layer) -> None:
    """Every setting the file has for a layer: plain ones as a table, nested ones as JSON."""
    rows = {key: value for key, value in layer.config.items() if not isinstance(value, dict | list)}
    nested = {key: value for key, value in layer.config.items() if key not in rows}
    if rows:
        columns = {
            "Setting": [escape.clip(key) for key in rows],
            "Value": [escape.clip("none" if value is None else value, 300) for value in rows.values()],
        }
        st.dataframe(columns, hide_index=True, height="content" if len(rows) <= 12 else 400)
    if nested:
        st.code(json.dumps(nested, indent=2, ensure_ascii=False)[:20_000], language="json", height=280)


def _neighbours(label: str, names: Sequence[str]) -> None:
    if not names:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        st.caption(label, width="content")
        for place, name in enumerate(names[:_SHOWN_NEIGHBOURS]):
            st.button(
                escape.markdown(name, 40),
                key=f"{label}-{place}-{name}",
                type="tertiary",
                help=escape.markdown(name, 300) if len(name) > 40 else None,
                on_click=session.remember,
                args=("layer", name),
            )
        if len(names) > _SHOWN_NEIGHBOURS:
            st.caption(f"and {words.count(len(names) - _SHOWN_NEIGHBOURS)} more", width="content")
