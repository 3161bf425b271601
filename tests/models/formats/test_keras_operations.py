"""Inferred shapes of plain operations in a Keras graph, against what Keras 3 and Keras 2 themselves say.

The operation is the last of its model, where a file records no shape of what it yields.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stethoscope.architecture.dynamic_sizes import filled
from stethoscope.models.formats.keras_model.keras_operation_shapes import Known, operation_key, operation_output_shapes
from tests.architecture.keras_files import described, described_h5
from tests.frameworks import keras, tf, tf_keras
from tests.tables import Cases, each

# expression over `ops` (keras.ops) and the inputs x, y → their shapes without the batch dimension
KERAS_3 = {
    "ops.exp(x)": [(4, 6)],
    "ops.softmax(x)": [(4, 6)],
    "ops.roll(x, 1)": [(4, 6)],
    "ops.cumsum(x, axis=1)": [(4, 6)],
    "ops.add(x, y)": [(4, 6), (1, 6)],
    "ops.add(x, np.ones((3, 1, 1, 6)))": [(4, 6)],
    "x * 2.0": [(4, 6)],
    "ops.where(x > 0, x, y)": [(4, 6), (6,)],
    "ops.mean(x, axis=1)": [(4, 6)],
    "ops.max(x, axis=-2)": [(4, 6)],
    "ops.sum(x, axis=(1, 2), keepdims=True)": [(4, 6)],
    "ops.argmax(x, axis=-1)": [(4, 6)],
    "ops.logsumexp(x, axis=1)": [(4, 6)],
    "ops.norm(x, axis=1)": [(4, 6)],
    "ops.concatenate([x, y], axis=1)": [(4, 6), (2, 6)],
    "ops.concatenate([x, y], axis=-1)": [(4, 6), (4, 3)],
    "ops.einsum('bij,bjk->bik', x, y)": [(4, 6), (6, 3)],
    "ops.matmul(x, y)": [(4, 6), (6, 3)],
    "x[:, 0]": [(4, 6)],
    "x[..., -1]": [(4, 6)],
    "x[:, None, 1]": [(4, 6)],
    "x[:, 1:3]": [(4, 6)],
    "x[:, -2:]": [(4, 6)],
    "x[..., ::2]": [(4, 6)],
    "x[:, 2:]": [(None, 6)],
    "ops.transpose(x, (0, 2, 1))": [(4, 6)],
    "ops.transpose(x)": [(4, 6)],
    "ops.swapaxes(x, -1, 1)": [(4, 6, 2)],
    "ops.reshape(x, (-1, 3, 8))": [(4, 6)],
    "ops.reshape(x, (-1, 24))": [(4, 6)],
    "ops.expand_dims(x, 1)": [(4, 6)],
    "ops.expand_dims(x, -1)": [(4, 6)],
    "ops.expand_dims(x, (1, 2))": [(4, 6)],
    "ops.squeeze(x)": [(4, 1)],
    "ops.squeeze(x, -1)": [(4, 1)],
    "ops.stack([x, y])": [(4, 6), (4, 6)],
    "ops.stack([x, y], axis=-1)": [(4, 6), (4, 6)],
    "ops.split(x, 3, axis=2)": [(4, 6)],
    "ops.split(x, [1, 4], axis=-1)": [(4, 6)],
    "ops.unstack(x, axis=1)": [(4, 6)],
    "ops.unstack(x, axis=-1)": [(4, 6)],
    "ops.pad(x, ((0, 0), (1, 2), (3, 0)))": [(4, 6)],
    "ops.tile(x, (1, 2, 3))": [(4, 6)],
    "ops.one_hot(x, 5)": [(4,)],
    "ops.broadcast_to(x, (2, 4, 6))": [(1, 6)],
    "ops.image.resize(x, (5, 7))": [(4, 6, 3)],
    "ops.take(x, [0, 2, 1], axis=1)": [(4, 6)],
    "ops.cumsum(x)": [(4, 6)],
    "ops.cumprod(x)": [(4, 6)],
    "ops.argsort(x, axis=None)": [(4, 6)],
    "ops.max(x)": [(4, 6)],
    "ops.mean(x)": [(4, 6)],
    "ops.argmax(x)": [(4, 6)],
    "ops.any(x > 0)": [(4, 6)],
    "ops.argmin(x, keepdims=True)": [(4, 6)],
    "ops.take(x, [0, 2, 1])": [(4, 6)],
    "ops.take(x, 2)": [(4, 6)],
    "ops.take(x, 2, axis=1)": [(4, 6)],
    "ops.take(x, ops.cast(y, 'int32'))": [(4, 6), (3,)],
    "ops.take(x, ops.cast(y, 'int32'), axis=1)": [(4, 6), (3,)],
    "ops.tile(x, 3)": [(4, 6)],
    "ops.tile(x, (2, 3))": [(4, 6)],
    "ops.tile(x, (2, 1, 2, 3))": [(4, 6)],
    "ops.pad(x, 1)": [(4, 6)],
    "ops.pad(x, (1, 2))": [(4, 6)],
    "ops.pad(x, ((1, 2),))": [(4, 6)],
    "x[:, -3:-1]": [(None, 6)],
    "x[:, -1:-3]": [(None, 6)],
    "x[:, 2:5]": [(None, 6)],
    "ops.reshape(x, (ops.shape(x)[0], -1))": [(4, 6)],
    "ops.reshape(x, (-1, ops.shape(x)[1], 3))": [(None, 6)],
    "ops.reshape(x, (ops.shape(x)[0], ops.shape(x)[1], 2, 3))": [(None, 6)],
}
# the same over `tf`, whose functions Keras 2 keeps as layers
KERAS_2 = {
    "tf.exp(x)": [(4, 6)],
    "x + y": [(4, 6), (1, 6)],
    "tf.maximum(x, 0.5)": [(4, 6)],
    "tf.reduce_mean(x, axis=[1, 2])": [(4, 6)],
    "tf.reduce_sum(x, 1, keepdims=True)": [(4, 6)],
    "tf.concat([x, y], 1)": [(4, 6), (2, 6)],
    "tf.concat([x, y], axis=-1)": [(4, 6), (4, 3)],
    "tf.matmul(x, y, transpose_b=True)": [(4, 6), (3, 6)],
    "tf.matmul(x, y, transpose_a=True)": [(4, 6), (4, 3)],
    "x[:, 0]": [(4, 6)],
    "x[..., 1:4]": [(4, 6)],
    "x[:, tf.newaxis]": [(4, 6)],
    "tf.transpose(x, [0, 2, 1])": [(4, 6)],
    "tf.reshape(x, [-1, 3, 8])": [(4, 6)],
    "tf.expand_dims(x, -1)": [(4, 6)],
    "tf.squeeze(x, [1])": [(1, 6)],
    "tf.stack([x, y], axis=1)": [(4, 6), (4, 6)],
    "tf.split(x, 2, axis=1)": [(4, 6)],
    "tf.split(x, [1, 5], axis=2)": [(4, 6)],
    "tf.unstack(x, axis=1)": [(4, 6)],
    "tf.pad(x, [[0, 0], [1, 1], [0, 2]])": [(4, 6)],
    "tf.tile(x, [1, 2, 1])": [(4, 6)],
    "tf.one_hot(x, 5)": [(4,)],
    "tf.gather(x, [0, 2], axis=1)": [(4, 6)],
    "tf.image.resize(x, [5, 7])": [(4, 6, 3)],
    "tf.shape(x)": [(4, 6)],
    "tf.cumsum(x)": [(4, 6)],
    "tf.argsort(x)": [(4, 6)],
    "tf.argmax(x)": [(4, 6)],
    "tf.reduce_max(x)": [(4, 6)],
    "tf.gather(x, [0, 2])": [(4, 6)],
    "tf.gather(x, tf.cast(y, tf.int32), axis=1, batch_dims=1)": [(4, 6), (3,)],
    "tf.reshape(x, [-1, tf.shape(x)[1], 3])": [(None, 6)],
    "x[:, -3:-1]": [(None, 6)],
}


def model_of(package: Any, expression: str, shapes: list[tuple[int | None, ...]], name: str) -> Any:
    integers = "one_hot" in expression
    inputs = [package.Input(shape, dtype="int32" if integers else "float32") for shape in shapes]
    names = {"ops": keras.ops, "np": np, "tf": tf, "keras": keras, **dict(zip("xy", inputs, strict=False))}
    return package.Model(inputs, eval(expression, names), name=name)


def test_operations_of_keras_3_yield_the_shapes_that_keras_says(tmp_path: Path) -> None:
    with Cases() as case:
        for number, (expression, shapes) in enumerate(KERAS_3.items()):
            with case(expression):
                model = model_of(keras, expression, shapes, f"m{number}")
                found = described(model, tmp_path)
                assert [spec.shape for spec in found.outputs] == [tuple(output.shape) for output in model.outputs]


def test_functions_that_keras_2_keeps_as_layers_yield_the_shapes_that_it_says(tmp_path: Path) -> None:
    with Cases() as case:
        for number, (expression, shapes) in enumerate(KERAS_2.items()):
            with case(expression):
                model = model_of(tf_keras, expression, shapes, f"m{number}")
                found = described_h5(model, tmp_path)
                assert [spec.shape for spec in found.outputs] == [tuple(output.shape) for output in model.outputs]


def test_a_slice_counted_from_the_end_of_an_open_axis_may_be_shorter_than_it_says(tmp_path: Path) -> None:
    model = model_of(keras, "x[:, -3:-1]", [(None, 6)], "late")
    lengths = {tuple(model([np.zeros((2, length, 6), "f4")]).shape) for length in (1, 2, 9)}
    assert lengths == {(2, 0, 6), (2, 1, 6), (2, 2, 6)}
    (output,) = described(model, tmp_path).outputs
    assert output.shape == (None, None, 6)


@each(
    "expression",
    [
        "ops.reshape(x, (-1, ops.shape(x)[1], 3))",
        "ops.reshape(x, (ops.shape(x)[0], -1, 3))",
        "ops.reshape(x, (ops.shape(x)[0], ops.shape(x)[1], 2, 3))",
        "ops.reshape(x, (-1, ops.shape(x)[1], 3, 2))",
        "keras.layers.Reshape((-1, 3))(x)",
        "keras.layers.Reshape((3, -1, 2))(x)",
    ],
)
def test_a_reshape_with_two_open_sizes_is_filled_in_as_a_call_does_it(expression: str, tmp_path: Path) -> None:
    model = model_of(keras, expression, [(None, 6)], "reshaped")
    layer = described(model, tmp_path).layers[-1]
    assert layer.output_shape is not None
    called = tuple(eval(expression, {"ops": keras.ops, "keras": keras, "x": keras.ops.zeros((2, 8, 6))}).shape)
    assert filled(layer, layer.output_shape, [(None, None, 6)], [(2, 8, 6)]) == called


@each(
    ("name", "config", "args"),
    [
        ("Mean", {"axis": 1}, [Known(None)]),
        ("Transpose", {"axes": [0, 1]}, [Known(None)]),
        ("Matmul", {}, [Known((None, 4)), Known(None)]),
        ("NoSuchOperation", {}, [Known((None, 4))]),
        ("Transpose", {"axes": [0, 5]}, [Known((None, 4))]),
        ("Reshape", {}, [Known((None, 4))]),
        ("GetItem", {}, [Known((None, 4)), [slice(None), Known((2,))]]),
        ("Take", {}, [Known((None, 4)), Known(None)]),
        ("Einsum", {}, []),
    ],
)
def test_what_does_not_follow_is_not_known(name: str, config: dict[str, Any], args: list[Any]) -> None:
    assert operation_output_shapes(name, config, args, {}) == [None]


def test_a_slice_up_to_a_tensor_has_an_open_size() -> None:
    args = [Known((None, 4, 6)), [slice(None), slice(0, Known(()))]]
    assert operation_output_shapes("GetItem", {}, args, {}) == [(None, None, 6)]


@pytest.mark.parametrize("name", ["reduce_mean", "math.reduce_mean", "ReduceMean", "compat.v1.reduce_mean"])
def test_an_operation_has_one_key_under_all_its_names(name: str) -> None:
    assert operation_key(name) == "reducemean"
