"""Output shapes in a flat graph: those the file states, and what follows from them for the common operators.

Rules answer None where they do not know; nothing is guessed. Small integer constants are followed through shape arithmetic, so
that `Reshape`, `Pad` or `Transpose` with a constant argument have a shape.
Source: the shape functions in tensorflow/core/ops/{array,math,nn}_ops.cc.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stethoscope.models.formats.tf_graph import graph_shape_rules, graph_values
from stethoscope.models.formats.tf_graph.flat_graph import FlatGraph, Tensor
from stethoscope.models.formats.tf_graph.object_graph import static_shape
from stethoscope.types import Shape

_MAX_RANK = 32


def infer(graph: FlatGraph, known: Mapping[str, Shape | None]) -> dict[Tensor, Shape | None]:
    """Shapes by tensor; a tensor that is missing has an unknown rank.

    Args:
        graph: operators in execution order.
        known: shapes of first outputs known from elsewhere (signatures), by operator name.
    """
    shapes: dict[Tensor, Shape | None] = {}
    values = graph_values.Values()
    for operator in graph.operators.values():
        stated = operator.attributes["_output_shapes"].list.shape if "_output_shapes" in operator.attributes else ()
        if known.get(operator.name) is not None:
            shapes[Tensor(operator.name, 0)] = known[operator.name]
        elif stated:
            for index, shape in enumerate(stated):
                shapes[Tensor(operator.name, index)] = static_shape(shape)
        else:
            inputs = [shapes.get(tensor) for tensor in operator.inputs]
            found = _infer_one(
                operator.type, operator.attributes, inputs, [values.get(tensor) for tensor in operator.inputs]
            )
            for index, one in enumerate(found):
                if one is None or len(one) <= _MAX_RANK:
                    shapes[Tensor(operator.name, index)] = one
        values.follow(operator, [shapes.get(tensor) for tensor in operator.inputs])
    return shapes


def _infer_one(
    kind: str, attributes: Mapping[str, Any], inputs: list[Shape | None], values: list[graph_values.Value]
) -> list[Shape | None]:
    rule = graph_shape_rules.RULES.get(kind)
    if rule is None:
        return []
    try:
        return rule(attributes, inputs, values)
    except (IndexError, ValueError, ZeroDivisionError):
        return []  # Arguments that do not fit the operator: TensorFlow will say so when it runs.
