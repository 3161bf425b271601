"""Operators that ONNX does not have, written as others: the graph computes the same, also inside a loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from stethoscope.compare.convert.graph_rewriting import _RECIPES, repair

X = np.array([[-3.0, -0.5, 0.0, 1e-3], [0.25, 1.0, 2.0, 30.0]], np.float32)
Y = np.array([[0.5, 0.0, 0.0, 2.0], [1.0, 3.0, 0.0, 7.0]], np.float32)


def operators() -> dict[str, Callable[[Any, Any], Any]]:
    import tensorflow as tf

    raw = tf.raw_ops

    def spectrum(x: Any) -> Any:
        return raw.RFFT(input=x, fft_length=[4])

    def padded(found: Any) -> Any:
        return tf.pad(found, [[0, 0], [0, 1]])

    return {
        "Erfc": lambda x, y: raw.Erfc(x=x),
        "Expm1": lambda x, y: raw.Expm1(x=x),
        "Log1p": lambda x, y: raw.Log1p(x=y),
        "Xlogy": lambda x, y: raw.Xlogy(x=y, y=y),
        "Xlog1py": lambda x, y: raw.Xlog1py(x=x, y=y),
        "Xdivy": lambda x, y: raw.Xdivy(x=y, y=y),
        "MulNoNan": lambda x, y: raw.MulNoNan(x=1 / y, y=y),
        "EuclideanNorm": lambda x, y: raw.EuclideanNorm(input=x, axis=[1], keep_dims=True),
        "Bucketize": lambda x, y: raw.Bucketize(input=x, boundaries=[-1.0, 0.0, 2.0]),
        "Inv": lambda x, y: raw.Inv(x=x),
        "BitwiseAnd": lambda x, y: raw.BitwiseAnd(x=raw.Bitcast(input=-x, type=tf.int32), y=tf.int32.min),
        "Real": lambda x, y: padded(raw.Real(input=spectrum(x))),
        "Imag": lambda x, y: padded(raw.Imag(input=spectrum(x))),
        "ComplexAbs": lambda x, y: padded(raw.ComplexAbs(x=spectrum(x))),
        "PreventGradient": lambda x, y: raw.PreventGradient(input=x),
    }


def test_every_recipe_has_a_case():
    assert set(operators()) == set(_RECIPES)


@pytest.mark.parametrize(
    ("op", "inside"),
    [(op, False) for op in sorted(_RECIPES)]
    # A loop is another graph to the repair, whatever the operator: one is enough to show that it looks there.
    + [pytest.param(op, True, marks=[] if op == "Erfc" else pytest.mark.sweep) for op in sorted(_RECIPES)],
)
def test_the_repaired_graph_computes_the_same(op, inside):
    import tensorflow as tf

    call = operators()[op]

    def plain(x: Any, y: Any) -> Any:
        found = tf.cast(call(x, y), tf.float32)
        return tf.zeros_like(x) + found

    def looped(x: Any, y: Any) -> Any:
        start = (tf.constant(0), tf.zeros_like(x))
        return tf.while_loop(lambda step, _: step < 2, lambda step, _: (step + 1, plain(x, y)), start)[1]

    spec = tf.TensorSpec((2, 4), tf.float32)
    function = tf.function(looped if inside else plain, input_signature=[spec, spec], autograph=False)
    definition = function.get_concrete_function().graph.as_graph_def()
    expected = _run(definition)
    assert op in _types(definition)
    repair(definition)
    assert op not in _types(definition)
    np.testing.assert_allclose(_run(definition), expected, rtol=1e-5, atol=2e-6 if op == "Imag" else 2e-7)


def _types(definition: Any) -> set[str]:
    bodies = [definition.node, *(body.node_def for body in definition.library.function)]
    return {node.op for nodes in bodies for node in nodes}


def _run(definition: Any) -> np.ndarray:
    import tensorflow as tf

    ends = [node.name for node in definition.node if node.op == "Placeholder"]
    last = [node.name for node in definition.node if node.op == "Identity"][-1]
    graph = tf.Graph()
    with graph.as_default():
        (output,) = tf.import_graph_def(definition, return_elements=[f"{last}:0"], name="")
    with tf.compat.v1.Session(graph=graph) as session:
        return session.run(output, {f"{ends[0]}:0": X, f"{ends[1]}:0": Y})
