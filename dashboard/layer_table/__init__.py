"""The layers as a table that filters while typing, follows the selection of the graph, and stays fast at thousands of rows."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from dashboard import escape, words
from stethoscope.types import Architecture, Layer

FOLDER = Path(__file__).parent
MAX_ROWS = 20_000
"""Rows sent to the browser."""
TOLD = "picked"


def rows(layers: Sequence[Layer], total: int) -> list[list[Any]]:
    """One row per layer: name, type, output shape, parameters, share of the model in words. Plain text, never markup."""
    return [
        [
            escape.clip(layer.path, 300),
            escape.clip(layer.type),
            words.shape(layer.output_shape),
            layer.parameters,
            words.share(layer.parameters, total),
        ]
        for layer in layers[:MAX_ROWS]
    ]


def show(architecture: Architecture, selected: str | None, *, text: str, height: int, key: str) -> str:
    """Draws the table. It tells the index of the row that is picked, or None, as `TOLD`: see `dashboard.choices`.

    Args:
        architecture: the model's layers.
        selected: the path of the selected layer; its row is scrolled to.
        text: the filter to begin with.
        height: of the scrolling part, in pixels.
        key: the widget's key.

    Returns:
        The filter: hostile text, escape it before showing.
    """
    layers = architecture.layers[:MAX_ROWS]
    index = next((place for place, layer in enumerate(layers) if layer.path == selected), None)
    result = _component()(
        key=key,
        data={
            "rows": rows(layers, architecture.parameters),
            "selected": index,
            "filter": text,
            "height": height,
            "summary": f"{words.plural(len(architecture.layers), 'layer')}, {words.plural(architecture.parameters, 'parameter')}",
        },
        default={"filter": text, TOLD: None},
        on_picked_change=_nothing,
        on_filter_change=_nothing,
    )
    return result.filter if isinstance(result.filter, str) else text


def layer_at(architecture: Architecture, index: object) -> str | None:
    """The path of the layer in a row that was told; None for no row."""
    if isinstance(index, int) and 0 <= index < min(len(architecture.layers), MAX_ROWS):
        return architecture.layers[index].path
    return None


def _nothing() -> None:
    """Streamlit only reports a value that has a callback."""


@functools.cache
def _component() -> Any:
    return st.components.v2.component(
        "stethoscope_layers",
        html=(FOLDER / "component.html").read_text("utf-8"),
        css=(FOLDER / "component.css").read_text("utf-8"),
        js="\n".join(script.read_text("utf-8") for script in (FOLDER.parent / "choices.js", FOLDER / "component.js")),
    )
