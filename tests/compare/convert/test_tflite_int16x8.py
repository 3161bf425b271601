"""What stands in the way of 16×8 quantisation, written as other operators: the graph computes the same."""

from __future__ import annotations

from typing import Any

import numpy as np

from stethoscope.compare.convert.tflite_int16x8 import repair_for_16x8
from tests.tables import each

A = np.array([[-(2**31), -1, 0, 5], [2**31 - 1, 7, 7, -3]], np.int32)
B = np.array([[2**31 - 1, -1, 1, 4], [-(2**31), 7, 8, -3]], np.int32)


@each("kind", ["int32", "int64", "float32"])
@each("op", ["NotEqual", "Equal", "Less", "Greater", "LessEqual", "GreaterEqual", "SquaredDifference"])
def test_the_repaired_graph_computes_the_same(op, kind):
    import tensorflow as tf

    spec = tf.TensorSpec((2, 4), kind)
    function = tf.function(lambda a, b: getattr(tf.raw_ops, op)(x=a, y=b), input_signature=[spec, spec])
    definition = function.get_concrete_function().graph.as_graph_def()
    a, b = A.astype(kind), B.astype(kind)
    expected = _run(definition, op, a, b)
    repair_for_16x8(definition)
    left = {node.op for node in definition.node}
    assert (op in left) is ((kind == "float32") is not (op == "SquaredDifference"))
    np.testing.assert_array_equal(_run(definition, op, a, b), expected)


def _run(definition: Any, name: str, *feeds: np.ndarray) -> np.ndarray:
    import tensorflow as tf

    ends = [node.name for node in definition.node if node.op == "Placeholder"]
    graph = tf.Graph()
    with graph.as_default():
        (output,) = tf.import_graph_def(definition, return_elements=[f"{name}:0"], name="")
    with tf.compat.v1.Session(graph=graph) as session:
        return session.run(output, dict(zip((f"{end}:0" for end in ends), feeds, strict=True)))
