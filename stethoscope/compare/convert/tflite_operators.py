"""Operators of TFLite that tf2onnx does not know, told to it as operators of ONNX that mean the same."""

from __future__ import annotations

import functools
import math
from typing import Any


@functools.cache
def teach() -> None:
    """Makes them known to tf2onnx, for as long as this process lives."""
    from tf2onnx.handler import tfl_op

    tfl_op(["TFL_GELU"])(_Gelu)
    tfl_op(["TFL_RELU_0_TO_1"])(_between(0.0, 1.0))
    tfl_op(["TFL_RELU_N1_TO_1"])(_between(-1.0, 1.0))


class _Gelu:
    """x/2 · (1 + erf(x/√2)), or with tanh in place of erf. Source: arXiv:1606.08415."""

    @classmethod
    def version_9(cls, graph: Any, node: Any, **_: Any) -> None:
        """How tf2onnx asks for it, from opset 9 on."""
        write = _Writer(graph, node)
        x = node.input[0]
        if node.get_attr_value("approximate"):
            cubed = write("Mul", write("Mul", write("Mul", x, x), x), write.number(0.044715))
            inner = write("Tanh", write("Mul", write("Add", x, cubed), write.number(math.sqrt(2 / math.pi))))
        else:
            inner = write("Erf", write("Mul", x, write.number(math.sqrt(0.5))))
        write.last("Mul", write("Mul", x, write.number(0.5)), write("Add", inner, write.number(1.0)))


def _between(low: float, high: float) -> type:
    class Clip:
        @classmethod
        def version_11(cls, graph: Any, node: Any, **_: Any) -> None:
            write = _Writer(graph, node)
            write.last("Clip", node.input[0], write.number(low), write.number(high))

    return Clip


class _Writer:
    """Writes operators of ONNX in place of one of TFLite."""

    def __init__(self, graph: Any, node: Any) -> None:
        self._graph, self._node = graph, node
        self._shape, self._dtype = graph.get_shape(node.output[0]), graph.get_dtype(node.output[0])

    def __call__(self, op: str, *inputs: str) -> str:
        made = self._graph.make_node(op, list(inputs), shapes=[self._shape], dtypes=[self._dtype])
        return str(made.output[0])

    def number(self, value: float) -> str:
        """A constant of the operator's own dtype."""
        import numpy as np
        from onnx import helper
        from tf2onnx.utils import make_name

        kind = helper.tensor_dtype_to_np_dtype(self._dtype)
        made = self._graph.make_const(make_name(self._node.name), np.array(value, kind))
        return str(made.output[0])

    def last(self, op: str, *inputs: str) -> None:
        """The operator whose output is that of the one replaced."""
        node = self._node
        self._graph.remove_node(node.name)
        self._graph.make_node(
            op, list(inputs), name=node.name, outputs=node.output, shapes=[self._shape], dtypes=[self._dtype]
        )
