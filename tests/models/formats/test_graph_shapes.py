"""Shapes that follow in a TensorFlow graph, against those that TensorFlow's own shape functions infer."""

from __future__ import annotations

from typing import Any

import pytest

from stethoscope.models.formats.tf_graph.flat_graph import flatten
from stethoscope.models.formats.tf_graph.graph_shapes import infer
from stethoscope.types import Shape
from tests.frameworks import tf
from tests.tables import Cases

# expression over `tf`, `raw` (tf.raw_ops) and the placeholders x, y → their shapes
SAME: dict[str, list[tuple[int | None, ...]]] = {
    "tf.nn.relu(x) + y": [(None, 4, 6), (6,)],
    "tf.add_n([x, y])": [(2, 3), (2, 3)],
    "raw.MatMul(a=x, b=y)": [(None, 4), (4, 5)],
    "raw.MatMul(a=x, b=y, transpose_a=True)": [(4, 3), (4, 5)],
    "raw.MatMul(a=x, b=y, transpose_b=True)": [(None, 4), (5, 4)],
    "raw.BatchMatMulV2(x=x, y=y, adj_y=True)": [(None, 2, 3, 4), (5, 4)],
    "raw.BatchMatMulV2(x=x, y=y, adj_x=True)": [(7, 4, 3), (7, 4, 5)],
    "raw.Mean(input=x, axis=[1, -1])": [(None, 4, 6)],
    "raw.Sum(input=x, axis=1, keep_dims=True)": [(None, 4, 6)],
    "raw.ArgMax(input=x, dimension=-1)": [(None, 4, 6)],
    "raw.ArgMin(input=x, dimension=1)": [(None, 4, 6)],
    "tf.reshape(x, [-1, 3])": [(4, 6)],
    "tf.reshape(x, [2, -1, 3])": [(4, 6)],
    "tf.reshape(x, [-1, 24])": [(None, 4, 6)],
    "tf.reshape(x, tf.stack([tf.shape(x)[0], 24]))": [(None, 4, 6)],
    "tf.reshape(x, tf.concat([tf.shape(x)[:1], [24]], 0))": [(None, 4, 6)],
    "tf.reshape(x, tf.stack([tf.shape(x)[1] * 2, -1]))": [(None, 4, 6)],
    "tf.reshape(x, tf.stack([tf.shape(x)[1] + tf.shape(x)[2], -1]))": [(None, 4, 6)],
    "tf.reshape(x, tf.stack([tf.shape(x)[2] - 2, -1]))": [(None, 4, 6)],
    "tf.reshape(x, tf.stack([tf.shape(x)[2] // 4, -1]))": [(None, 4, 6)],
    "tf.expand_dims(x, 1)": [(None, 4)],
    "tf.expand_dims(x, -1)": [(None, 4)],
    "tf.squeeze(x, [1])": [(None, 1, 6)],
    "tf.squeeze(x, [-1])": [(None, 4, 1)],
    "tf.squeeze(x)": [(1, 4, 1)],
    "raw.Transpose(x=x, perm=[2, 0, 1])": [(None, 4, 6)],
    "raw.Transpose(x=x, perm=tf.cast(y, tf.int32))": [(None, 4, 6), (3,)],
    "tf.concat([x, y], 1)": [(None, 4), (None, 2)],
    "tf.concat([x, y], -1)": [(3, None), (3, 2)],
    "tf.stack([x, y], axis=1)": [(None, 4), (None, 4)],
    "tf.stack([x, y], axis=-1)": [(None, 4), (None, 4)],
    "tf.unstack(x, axis=1)": [(None, 3, 6)],
    "tf.unstack(x, axis=-1)": [(None, 3, 2)],
    "tf.split(x, 2, axis=1)": [(None, 4, 6)],
    "tf.split(x, 3, axis=-1)": [(4, 6)],
    "tf.pad(x, [[0, 0], [1, 2]])": [(None, 4)],
    "raw.MirrorPad(input=x, paddings=[[0, 0], [1, 2]], mode='REFLECT')": [(None, 4)],
    "raw.Pad(input=x, paddings=tf.cast(y, tf.int32))": [(None, 4), (2, 2)],
    "tf.gather(x, [0, 2, 1], axis=1)": [(None, 4, 6)],
    "raw.Gather(params=x, indices=[[0, 1], [2, 3]])": [(7, 4)],
    "tf.shape(x)": [(None, 4, 6)],
    "tf.rank(x)": [(None, 4, 6)],
    "tf.size(x)": [(None, 4, 6)],
    "tf.fill([2, 3], 1.0)": [],
    "raw.RandomUniform(shape=[2, 3], dtype=tf.float32)": [],
    "raw.BroadcastTo(input=x, shape=[5, 2, 4])": [(2, 4)],
    "tf.tile(x, [1, 3])": [(None, 4)],
    "raw.Tile(input=x, multiples=tf.cast(y, tf.int32))": [(None, 4), (2,)],
    "raw.ResizeBilinear(images=x, size=[5, 7])": [(None, 4, 6, 3)],
    "raw.ResizeNearestNeighbor(images=x, size=tf.cast(y, tf.int32))": [(None, 4, 6, 3), (2,)],
    "x[:, 0]": [(None, 4, 6)],
    "x[:, -1:]": [(None, 4, 6)],
    "x[..., ::2]": [(None, 4, 6)],
    "x[:, tf.newaxis, 1:3]": [(None, 4, 6)],
    "x[..., tf.newaxis, 2]": [(None, 4, 6)],
    "x[::-1]": [(5, 4)],
    "tf.nn.conv2d(x, y, 2, 'SAME')": [(None, 9, 9, 3), (3, 3, 3, 8)],
    "tf.nn.conv2d(x, y, 1, 'VALID', dilations=2)": [(None, 9, 9, 3), (3, 3, 3, 8)],
    "tf.nn.conv2d(x, y, 2, [[0, 0], [1, 2], [0, 1], [0, 0]])": [(None, 9, 9, 3), (3, 3, 3, 8)],
    "tf.nn.conv2d(x, y, 1, 'VALID', data_format='NCHW')": [(None, 3, 9, None), (3, 3, 3, 8)],
    "tf.nn.conv3d(x, y, [1, 2, 2, 2, 1], 'VALID')": [(None, 7, 7, 7, 2), (3, 3, 3, 2, 4)],
    "tf.nn.depthwise_conv2d(x, y, [1, 1, 1, 1], 'VALID')": [(None, 9, 9, 3), (3, 3, 3, 2)],
    "raw.MaxPool(input=x, ksize=[1, 2, 3, 1], strides=[1, 2, 2, 1], padding='VALID')": [(None, 9, 9, 3)],
    "raw.AvgPool(value=x, ksize=[1, 1, 2, 2], strides=[1, 1, 2, 2], padding='SAME', data_format='NCHW')": [
        (None, 3, 9, 9)
    ],
    "raw.Conv2DBackpropInput(input_sizes=[2, 8, 8, 3], filter=y, out_backprop=x, strides=[1, 2, 2, 1], padding='SAME')": [
        (2, 4, 4, 5),
        (3, 3, 3, 5),
    ],
    "raw.FusedBatchNormV3(x=x, scale=y, offset=y, mean=y, variance=y, is_training=False)[:5]": [(None, 9, 9, 3), (3,)],
    "raw.IdentityN(input=[x, y])": [(None, 4), (3,)],
    "tf.cond(tf.reduce_all(x > 0), lambda: x, lambda: -x)": [(3, 4)],
    "tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * 2.0), [0, x])": [(3, 4)],
}
# where TensorFlow may say more: whatever is said agrees with it
AGREES: dict[str, list[tuple[int | None, ...] | None]] = {
    "raw.MatMul(a=x, b=y)": [None, (4, 5)],
    "raw.Mean(input=x, axis=[1])": [None],
    "raw.Mean(input=x, axis=tf.cast(y, tf.int32))": [(None, 4), (1,)],
    "raw.ArgMax(input=x, dimension=1)": [None],
    "tf.reshape(x, tf.cast(y, tf.int32))": [(None, 4), (2,)],
    "tf.expand_dims(x, 1)": [None],
    "tf.squeeze(x)": [None],
    "raw.Squeeze(input=x)": [(None, 1)],
    "raw.Transpose(x=x, perm=[1, 0])": [None],
    "tf.concat([x, y], 1)": [None, (None, 2)],
    "tf.stack([x, y])": [None, None],
    "raw.Unpack(value=x, num=3)": [None],
    "tf.split(x, 2, axis=1)": [None],
    "tf.pad(x, [[0, 0], [1, 2]])": [None],
    "tf.gather(x, [0, 2, 1], axis=1)": [None],
    "tf.shape(x)": [None],
    "tf.tile(x, [1, 3])": [None],
    "x[:, 0]": [None],
    "tf.nn.conv2d(x, y, 2, 'SAME')": [None, (3, 3, 3, 8)],
    "tf.nn.conv2d(x, y, 1, 'VALID')": [(None, 9, 9, 3), None],
    "tf.nn.conv2d(x, y, 1, 'VALID') ": [(None, 9, 9, 3), (None, None, 3, 8)],
    "tf.nn.depthwise_conv2d(x, y, [1, 1, 1, 1], 'SAME')": [(None, 9, 9, 3), (3, 3, 3, None)],
    "raw.DepthwiseConv2dNative(input=x, filter=y, strides=[1, 1, 1, 1], padding='SAME')": [(None, 9, 9, 3), None],
    "raw.MaxPool(input=x, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding='VALID')": [None],
    "x + y": [None, (3,)],
    "x[:tf.cast(y[0], tf.int32)]": [(5, 4), (1,)],
    "x[:, :tf.cast(y, tf.int32)[0]]": [(5, 4), (1,)],
    "tf.reshape(x, tf.shape(y)[:2])": [(4, 6), (6, 4)],
    "tf.reshape(x, tf.shape(y)[-2:])": [(4, 6), (6, 4)],
    "tf.reshape(x, [tf.reduce_prod(tf.shape(x)), 1])": [(None, 6)],
    "tf.reshape(x, [tf.shape(x)[0] // 0, 1])": [(None, 6)],
    "tf.reshape(x, tf.shape(x)[0] * tf.ones([2], tf.int32))": [(4, 4)],
}


def inferred(expression: str, shapes: list[Any]) -> tuple[list[Shape | None], list[Shape | None]]:
    """(what TensorFlow infers for the results, what follows from the graph with its stated shapes taken away)."""
    with tf.Graph().as_default() as graph:
        placeholders = [tf.compat.v1.placeholder(tf.float32, shape) for shape in shapes]
        names = {"tf": tf, "raw": tf.raw_ops, **dict(zip("xy", placeholders, strict=False))}
        results = tf.nest.flatten(eval(expression, names))
    definition = graph.as_graph_def()
    library = {function.signature.name: function for function in definition.library.function}
    outputs = {str(index): tensor.name for index, tensor in enumerate(results)}
    flat = flatten(definition.node, library, outputs)
    for operator in flat.operators.values():
        assert "_output_shapes" not in operator.attributes
    found = infer(flat, {})
    said = [None if tensor.shape.rank is None else tuple(tensor.shape.as_list()) for tensor in results]
    return said, [found.get(flat.fetches[key]) for key in outputs]


def test_shapes_of_operators_are_those_that_tensorflow_infers() -> None:
    with Cases() as case:
        for expression, shapes in SAME.items():
            with case(expression):
                said, found = inferred(expression, shapes)
                assert found == said
                assert said != [None] * len(said)


def test_what_is_said_of_open_shapes_agrees_with_tensorflow() -> None:
    with Cases() as case:
        for expression, shapes in AGREES.items():
            with case(expression):
                for said, found in zip(*inferred(expression, shapes), strict=True):
                    if found is None:
                        continue
                    assert said is None or len(said) == len(found)
                    sizes = zip(said or (None,) * len(found), found, strict=True)
                    assert all(ours is None or ours == theirs for theirs, ours in sizes)


def test_a_product_of_sizes_is_followed_where_tensorflow_leaves_it_open() -> None:
    expression = "tf.reshape(x, tf.stack([-1, tf.reduce_prod(tf.shape(x)[1:])]))"
    said, found = inferred(expression, [(None, 4, 6)])
    assert said == [(None, None)]
    assert found == [(None, eval(expression, {"tf": tf, "x": tf.zeros((2, 4, 6))}).shape[1])]


@pytest.mark.parametrize("count", [64, 65])
def test_long_vectors_are_not_followed(count: int) -> None:
    said, found = inferred(f"tf.reshape(x, tf.constant([1] * {count}))[0]", [(1,)])
    assert said == [(1,) * (count - 1)]
    assert found == [None]
