"""Work of operators: in TensorFlow graphs what TensorFlow's own profiler counts, elsewhere what their definitions say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stethoscope.architecture.layer_costs import costs
from stethoscope.architecture.layer_work import Given, Unknown, Work
from stethoscope.architecture.operator_work import RULES
from stethoscope.models.formats import detect
from stethoscope.types import Layer, ModelFile, Operand
from tests.frameworks import tf
from tests.tables import Cases, each

Sizes = tuple[int, ...]

# expression over `raw` (tf.raw_ops), the placeholder x and constants y, z → their shapes
PROFILED: dict[str, list[Sizes]] = {
    "raw.MatMul(a=x, b=y)": [(5, 4), (4, 3)],
    "raw.MatMul(a=x, b=y, transpose_a=True)": [(4, 5), (4, 3)],
    "raw.MatMul(a=x, b=y, transpose_b=True)": [(5, 4), (3, 4)],
    "raw.BatchMatMulV2(x=x, y=y)": [(2, 5, 4), (2, 4, 3)],
    "raw.Conv2D(input=x, filter=y, strides=[1, 2, 2, 1], padding='SAME')": [(2, 9, 9, 3), (3, 3, 3, 8)],
    "raw.Conv2D(input=x, filter=y, strides=[1, 1, 1, 1], padding='VALID')": [(2, 9, 9, 3), (3, 2, 3, 8)],
    "raw.DepthwiseConv2dNative(input=x, filter=y, strides=[1, 1, 1, 1], padding='SAME')": [(2, 9, 9, 3), (3, 3, 3, 2)],
    "raw.MaxPool(input=x, ksize=[1, 2, 3, 1], strides=[1, 2, 2, 1], padding='VALID')": [(2, 9, 9, 3)],
    "raw.AvgPool(value=x, ksize=[1, 3, 3, 1], strides=[1, 3, 3, 1], padding='VALID')": [(2, 9, 9, 3)],
    "raw.BiasAdd(value=x, bias=y)": [(5, 4), (4,)],
    "raw.AddV2(x=x, y=y)": [(5, 4), (4,)],
    "raw.Mul(x=x, y=y)": [(5, 4), (5, 1)],
    "raw.SquaredDifference(x=x, y=y)": [(5, 4), (5, 4)],
    "raw.Rsqrt(x=x)": [(5, 4)],
    "raw.Softmax(logits=x)": [(5, 4)],
    "raw.AddN(inputs=[x, y, z])": [(5, 4), (5, 4), (5, 4)],
    "raw.Relu(features=x)": [(5, 4)],
    "raw.Reshape(tensor=x, shape=[4, 5])": [(5, 4)],
}


def counted(expression: str, shapes: list[Sizes], folder: Path) -> tuple[int, int | None]:
    """(what TensorFlow's profiler counts, what is said of the operator in the frozen graph)."""
    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.float32, shapes[0], "x")
        given = {name: tf.ones(shape) for name, shape in zip("yz", shapes[1:], strict=False)}
        result = eval(expression, {"raw": tf.raw_ops, "x": x, **given})
        options = tf.compat.v1.profiler.ProfileOptionBuilder.float_operation()
        options["output"] = "none"
        profile = tf.compat.v1.profiler.profile(graph, cmd="op", options=options)
    path = folder / "m.pb"
    path.write_bytes(graph.as_graph_def().SerializeToString())
    file = ModelFile.at(path)
    found = {cost.path: cost.flops for cost in costs(detect(file).describe(file), shapes[0][0])}
    return profile.total_float_ops, found[result.op.name]


def test_operators_of_tensorflow_count_as_in_its_profiler(tmp_path: Path) -> None:
    with Cases() as case:
        for expression, shapes in PROFILED.items():
            with case(expression):
                theirs, ours = counted(expression, shapes, tmp_path)
                assert ours == theirs


def work(kind: str, operands: list[Sizes | None], output: Sizes | None, **config: Any) -> Work:
    listed = tuple(Operand("", shape) for shape in operands)
    layer = Layer("it", kind, output, 0, 0, "float32", (), config, listed)
    given = Given(layer, kind, config, tuple(operands), output)
    return RULES[given.kind](given)


FUSED = {"fusedActivationFunction": "NONE"}


@each(
    ("kind", "operands", "output", "config", "macs", "other"),
    [
        ("Gemm", [(5, 4), (4, 3)], (5, 3), {}, 5 * 4 * 3, 0),
        ("Gemm", [(5, 4), (3, 4), (3,)], (5, 3), {"transB": 1}, 5 * 4 * 3, 5 * 3),
        ("Gemm", [(4, 5), (4, 3), (3,)], (5, 3), {"transA": 1}, 5 * 4 * 3, 5 * 3),
        ("FULLY_CONNECTED", [(5, 4), (3, 4), (3,)], (5, 3), FUSED, 5 * 4 * 3, 5 * 3),
        ("CONV_2D", [(1, 9, 9, 3), (8, 3, 3, 3), (8,)], (1, 7, 7, 8), FUSED, 7 * 7 * 8 * 27, 7 * 7 * 8),
        ("Conv", [(1, 4, 9, 9), (8, 2, 3, 3)], (1, 8, 7, 7), {"group": 2}, 7 * 7 * 8 * 18, 0),
        (
            "QLinearConv",
            [(1, 3, 9, 9), (), (), (8, 3, 3, 3), (), (), (), (), (8,)],
            (1, 8, 7, 7),
            {},
            49 * 8 * 27,
            49 * 8,
        ),
        ("QLinearConv", [(1, 3, 9, 9), (), (), (8, 3, 3, 3), (), (), (), ()], (1, 8, 7, 7), {}, 49 * 8 * 27, 0),
        ("ConvInteger", [(1, 3, 9, 9), (8, 3, 3, 3), (), ()], (1, 8, 7, 7), {}, 49 * 8 * 27, 0),
        ("DEPTHWISE_CONV_2D", [(1, 9, 9, 4), (1, 3, 3, 4), (4,)], (1, 7, 7, 4), FUSED, 49 * 4 * 9, 49 * 4),
        ("ConvTranspose", [(1, 3, 4, 4), (3, 5, 2, 2), (5,)], (1, 5, 8, 8), {}, 16 * 3 * 5 * 4, 64 * 5),
        ("ConvTranspose", [(1, 3, 4, 4), (3, 5, 2, 2)], (1, 5, 8, 8), {}, 16 * 3 * 5 * 4, 0),
        ("TRANSPOSE_CONV", [(4,), (5, 2, 2, 3), (1, 4, 4, 3), (5,)], (1, 8, 8, 5), FUSED, 16 * 3 * 5 * 4, 64 * 5),
        ("Einsum", [(2, 5, 4), (4, 3)], (2, 5, 3), {"equation": "bij,jk->bik"}, 2 * 5 * 4 * 3, 0),
        ("Sum", [(5, 4), (5, 4), (5, 4)], (5, 4), {}, 0, 2 * 20),
        ("ReduceMean", [(5, 4)], (5, 1), {}, 0, 20 + 5),
        ("ReduceMax", [(5, 4)], (5, 1), {}, 0, 20),
        ("Mean", [(5, 4), (1,)], (5,), {"keep_dims": False}, 0, 20 + 5),
        ("GlobalAveragePool", [(1, 3, 4, 4)], (1, 3, 1, 1), {}, 0, 48 + 3),
        ("LayerNormalization", [(5, 4), (4,)], (5, 4), {}, 0, 5 * 20),
        ("BatchNormalization", [(5, 4), (4,), (4,), (4,), (4,)], (5, 4), {}, 0, 2 * 20),
        ("LSTM", [(7, 2, 4), (1, 24, 4), (1, 24, 6)], (7, 1, 2, 6), {}, 7 * 2 * 24 * (4 + 6), 7 * 2 * 6 * 12),
        ("GRU", [(7, 2, 4), (2, 18, 4), (2, 18, 6)], (7, 2, 2, 6), {}, 7 * 2 * 2 * 18 * (4 + 6), 7 * 2 * 12 * 11),
        ("RNN", [(7, 2, 4), (1, 6, 4), (1, 6, 6)], (7, 1, 2, 6), {}, 7 * 2 * 6 * (4 + 6), 7 * 2 * 6 * 2),
        (
            "UNIDIRECTIONAL_SEQUENCE_LSTM",
            [(2, 7, 4), *[(6, 4)] * 4, *[(6, 6)] * 4],
            (2, 7, 6),
            {},
            14 * 24 * (4 + 6),
            14 * 12 * 6,
        ),
        ("UNIDIRECTIONAL_SEQUENCE_RNN", [(2, 7, 4), (6, 4), (6, 6)], (2, 7, 6), {}, 14 * 6 * (4 + 6), 14 * 2 * 6),
        ("SVDF", [(2, 4), (6, 4), (6, 10)], (2, 6), {}, 2 * 6 * (4 + 10), 12),
        ("Transpose", [(5, 4)], (4, 5), {}, 0, 0),
        ("Sigmoid", [(5, 4)], (5, 4), {}, 0, 0),
    ],
)
def test_work_is_what_the_definition_says(
    kind: str, operands: list[Sizes | None], output: Sizes, config: dict[str, Any], macs: int, other: int
) -> None:
    found = work(kind, operands, output, **config)
    assert (found.macs, found.other) == (macs, other)
    assert found.flops == 2 * macs + other


@each(
    ("kind", "operands", "output", "says"),
    [
        ("MatMul", [(5, 4), (6, 3)], (5, 3), "do not fit"),
        ("MatMul", [(5, 4), None], (5, 3), "what it reads"),
        ("MatMul", [(5, 4)], (5, 3), "what it reads"),
        ("MatMul", [(5, 4), (4, 3)], None, "its output"),
        ("MaxPool", [(1, 3, 9, 9)], (1, 3, 4, 4), "window"),
        ("UNIDIRECTIONAL_SEQUENCE_LSTM", [(2, 7, 4), None], (2, 7, 6), "weights"),
    ],
)
def test_work_that_does_not_follow_says_why(
    kind: str, operands: list[Sizes | None], output: Sizes | None, says: str
) -> None:
    with pytest.raises(Unknown, match=says):
        work(kind, operands, output)
