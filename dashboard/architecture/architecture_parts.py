"""How layers of the table and nodes of the drawn graph name each other."""

from __future__ import annotations

import re

from dashboard import escape
from dashboard.architecture import layer_table
from dashboard.kept_answers import kept
from stethoscope.models.formats import format_of
from stethoscope.types import Architecture


def layer_of(architecture: Architecture, node: str) -> str:
    """The path of the layer that a node of the graph stands for; nodes of a nested model stand for themselves.

    The graph knows the operators of some formats by their position only.
    """
    if format_of(architecture).numbered_nodes and node.isdecimal() and int(node) < len(architecture.layers):
        return architecture.layers[int(node)].path
    return node


def node_of(architecture: Architecture, path: str | None) -> str | None:
    """The node of the graph that draws a layer: the reverse of `layer_of`."""
    if format_of(architecture).numbered_nodes:
        places = (place for place, layer in enumerate(architecture.layers) if layer.path == path)
        return next((str(place) for place in places), path)
    return path


def start_of(architecture: Architecture) -> str | None:
    """The node whose graph a SavedModel opens on: what it serves, not how it reads its variables."""
    if not format_of(architecture).opens_inside:
        return None
    return next((layer.path for layer in architecture.layers if layer.inputs), None)


@kept
def unnamed(architecture: Architecture) -> list[str]:
    """Paths that may stand for nameless nodes: the operator and its position, as in "Relu_5"."""
    if not format_of(architecture).nameless_nodes:
        return []
    found = []
    for layer in architecture.layers:
        operator = re.escape(layer.type.rsplit(".", 1)[-1])
        if re.fullmatch(rf"{operator}(_\d+)+", layer.path.rsplit("/", 1)[-1]):
            found.append(layer.path)
    return found


@kept
def node_names(architecture: Architecture) -> dict[str, str]:
    """The nodes that draw layers and do not go by their paths."""
    if not format_of(architecture).numbered_nodes:
        return {}
    return {layer.path: str(place) for place, layer in reversed(list(enumerate(architecture.layers)))}


@kept
def in_table(architecture: Architecture, key: str) -> layer_table.Graph:
    """How the layer table finds the nodes of the graph `key`: names that it shows cut are told in full."""
    if format_of(architecture).numbered_nodes:
        return layer_table.Graph(key, positions=True)
    layers = architecture.layers[: layer_table.MAX_ROWS]
    cut = {place: layer.path for place, layer in enumerate(layers) if escape.clip(layer.path, 300) != layer.path}
    return layer_table.Graph(key, nodes=cut)


def layer_at(architecture: Architecture, index: object) -> str | None:
    """The path of the layer in a row that was told; None for no row."""
    if isinstance(index, int) and 0 <= index < min(len(architecture.layers), layer_table.MAX_ROWS):
        return architecture.layers[index].path
    return None


def place_of(architecture: Architecture, path: str | None) -> int | None:
    """The row of a layer; None for a path that has none."""
    if path is None:
        return None
    layers = architecture.layers[: layer_table.MAX_ROWS]
    return next((place for place, layer in enumerate(layers) if layer.path == path), None)
