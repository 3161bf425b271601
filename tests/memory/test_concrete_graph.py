"""Sizes in the graph of one batch are those that TensorFlow makes when it runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from stethoscope.errors import CannotRun
from stethoscope.memory.concrete_graph import OpenGraph
from tests.frameworks import tf
from tests.tables import each


def traced(body: Any, *specs: Any) -> tuple[Any, OpenGraph]:
    function = tf.function(body, autograph=False).get_concrete_function(*specs)
    return function, OpenGraph(function, function.inputs[: len(specs)])


@each("optimise", [True, False])
@each(("rows", "length"), [(1, 7), (5, 3)])
def test_a_lookup_in_a_table_has_the_size_of_what_it_yields(rows: int, length: int, optimise: bool) -> None:
    table = tf.Variable(np.zeros((11, 6), "float32"))
    function, graph = traced(lambda ids: tf.nn.relu(tf.gather(table, ids)), tf.TensorSpec([None, None], tf.int32))
    found = graph.at([(rows, length)], optimise=optimise)
    real = function(tf.zeros((rows, length), tf.int32)).numpy()
    assert [(value.shape, value.size_bytes) for value in found.outputs] == [(real.shape, real.nbytes)]
    assert [value.shape for value in found.inputs] == [(rows, length)]
    assert found.unknown == 0
    assert found.optimised is optimise


def test_a_convolution_that_is_compiled_by_itself_keeps_its_shape() -> None:
    kernel = tf.Variable(np.zeros((3, 3, 2, 8), "float32"))

    @tf.function(jit_compile=True, autograph=False)
    def grouped(x: Any) -> Any:
        return tf.nn.conv2d(x, kernel, 1, "SAME")

    _, graph = traced(lambda x: grouped(x) + 1.0, tf.TensorSpec([None, 6, 6, 4], tf.float32))
    found = graph.at([(3, 6, 6, 4)], optimise=False)
    assert [value.shape for value in found.outputs] == [(3, 6, 6, 8)]
    assert not graph.loops


def test_a_size_that_depends_on_values_is_counted_as_not_known() -> None:
    _, graph = traced(lambda x: tf.boolean_mask(x, x > 0), tf.TensorSpec([None], tf.float32))
    assert graph.at([(5,)], optimise=False).unknown > 0


def test_shapes_that_do_not_fit_are_explained() -> None:
    _, graph = traced(lambda x, y: x + y, tf.TensorSpec([None], tf.float32), tf.TensorSpec([None], tf.float32))
    assert [value.shape for value in graph.at([(5,), (1,)]).outputs] == [(5,)]
    with pytest.raises(CannotRun, match="take these shapes"):
        graph.at([(5,), (3,)])
