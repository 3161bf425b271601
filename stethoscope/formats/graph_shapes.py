"""Output shapes in a flat graph: those the file states, and what follows from them for the common operators."""

from __future__ import annotations

from collections.abc import Mapping

from stethoscope.formats.flat_graph import FlatGraph, Tensor
from stethoscope.formats.object_graph import static_shape
from stethoscope.types import Shape


def infer(graph: FlatGraph, known: Mapping[str, Shape | None]) -> dict[Tensor, Shape | None]:
    """Shapes by tensor; a tensor that is missing has an unknown rank.

    Args:
        graph: operators in execution order.
        known: shapes of first outputs known from elsewhere (signatures), by operator name.
    """
    shapes: dict[Tensor, Shape | None] = {}
    for operator in graph.operators.values():
        stated = operator.attributes["_output_shapes"].list.shape if "_output_shapes" in operator.attributes else ()
        for index, shape in enumerate(stated):
            shapes[Tensor(operator.name, index)] = static_shape(shape)
        if known.get(operator.name) is not None:
            shapes[Tensor(operator.name, 0)] = known[operator.name]
    return shapes
