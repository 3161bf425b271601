"""Weights of frozen graphs: constants, each counted for the operator that computes with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from stethoscope.errors import UnreadableFile
from stethoscope.models.containers import wire
from stethoscope.models.formats.tf_graph import frozen_graph_ends, graph_layers
from stethoscope.models.formats.tf_graph.flat_graph import FlatGraph, flatten
from stethoscope.models.model_format import StoredWeight, WeightsByLayer
from stethoscope.models.weights import tensor_places
from stethoscope.types import ModelFile


@contextmanager
def of_graph(file: ModelFile) -> Iterator[WeightsByLayer]:
    """Weights of a frozen `.pb`.

    Raises:
        UnreadableFile: a graph in text form, whose values are not read apart.
    """
    if frozen_graph_ends.kind(file) == "text":
        raise UnreadableFile(f"{file.name}: weights of a graph in text form are not read. Save it as a binary .pb.")
    definition = frozen_graph_ends.load(file)
    functions = {function.signature.name: function for function in definition.library.function}
    nodes = {node.name: node for node in definition.node}
    ends = frozen_graph_ends.find(nodes, int(definition.versions.producer or definition.version))
    graph = flatten(definition.node, functions, ends.fetches)
    with wire.mapped(file) as view:
        places = {(function, node): span for function, node, span in tensor_places.in_graph(view, 0, len(view))}
        yield constant_weights(view, graph, places)


def constant_weights(
    view: memoryview, graph: FlatGraph, places: Mapping[tuple[str, str], tensor_places.Span]
) -> WeightsByLayer:
    """Constants of a flat graph by the path of the layer that computes with them."""
    constants = graph_layers.constants(graph)
    found: WeightsByLayer = {}
    for path, names in graph_layers.weight_users(graph, constants).items():
        for name in names:
            operator = graph.operators[name]
            span = places.get((operator.function, name)) or _inlined(operator.function, name, places)
            if span is None:
                continue
            shape, dtype = tensor_places.shape_and_dtype(view, span)
            pieces, why = tensor_places.pieces(view, span)
            found.setdefault(path, []).append(
                StoredWeight("/".join(name.split("/")[-2:]), shape, dtype, None, pieces, unreadable=why)
            )
    return found


def _inlined(
    function: str, name: str, places: Mapping[tuple[str, str], tensor_places.Span]
) -> tensor_places.Span | None:
    """A constant of a function's body: the flat graph puts the call's name before the node's."""
    parts = name.split("/")
    return next(
        (
            places[function, "/".join(parts[at:])]
            for at in range(len(parts))
            if (function, "/".join(parts[at:])) in places
        ),
        None,
    )
