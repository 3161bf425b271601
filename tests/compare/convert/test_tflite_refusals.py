"""What TensorFlow's converter says of a model becomes operators, layers and ways round."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from stethoscope.compare.convert.converter import CannotConvert, Source
from stethoscope.compare.convert.refusals import named_in, not_run, refused
from stethoscope.compare.convert.traced import TracedModel
from stethoscope.errors import CannotRun
from stethoscope.types import Architecture, Layer, ModelFile
from tests.frameworks import tf

TITLE = "TFLite, float32"


def source(*layers: tuple[str, str]) -> Source:
    made = tuple(Layer(path, kind, (None, 3), 0, 0, "float32") for path, kind in layers)
    return Source(ModelFile(Path("m.pb"), "m.pb"), Architecture("frozen_graph", "", 0, None, (), (), made), None, None)


HEAD = source(("head/best", "ArgMax"), ("body/dense", "MatMul"))


def traced(function, *specs) -> TracedModel:
    return TracedModel(tf.function(function).get_concrete_function(*specs), None, (), ())


@pytest.fixture(scope="module")
def arg_max() -> TracedModel:
    def call(x):
        with tf.name_scope("head/best"):
            return tf.argmax(x, axis=-1)

    return traced(call, tf.TensorSpec((None, 3)))


class ConverterError(Exception):
    """As `tensorflow.lite`'s, with what its compiler collected."""

    def __init__(self, *errors) -> None:
        super().__init__("the compiler's whole output")
        self.errors = errors


def collected(operator: str, message: str, *places: str):
    from tensorflow.compiler.mlir.lite.metrics import converter_error_data_pb2

    error = converter_error_data_pb2.ConverterErrorData(error_message=message)
    error.operator.name = operator
    for place in places:
        error.location.call.add().name = place
    return error


@pytest.mark.parametrize(
    ("message", "operator", "advice"),
    [
        ("'tf.Betainc' op is neither a custom op nor a flex op", "Betainc", ""),
        ("operand needs tensor<?x3xf64>", "Betainc (float64)", "build the model"),
    ],
)
def test_what_the_compiler_collected_of_operators(message, operator, advice, arg_max):
    told = ConverterError(
        collected("tf.Const", "comes with it", "elsewhere"),
        collected("tf.Betainc", message, "model/body/dense/Betainc"),
    )
    found = refused(told, HEAD, TITLE, arg_max)
    (one,) = found.unsupported
    assert (one.operator, one.layer) == (operator, "body/dense") and advice in one.way_round
    assert f"{TITLE} has no {operator} (layer body/dense)" in str(found)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("error: 'tf.ArgMax' op is neither a custom op nor a flex op", [("ArgMax", "head/best")]),
        ("Quantization not yet supported for op: 'ARG_MAX'", [("ARG_MAX", "head/best")]),
        ("Quantization to 16x8-bit not yet supported for op: ARG_MAX", [("ARG_MAX", "head/best")]),
        ("Encountered unresolved custom operator FlexErf", [("Erf", "")]),
        ("Node number 3 (FlexErf) failed to prepare", [("Erf", "")]),
        ('loc("model/body/dense/x"): error: tf.Erf {device = ""}', [("Erf", "body/dense")]),
        ("out of patience", []),
    ],
)
def test_operators_in_the_text_of_an_error(text, expected, arg_max):
    assert [(one.operator, one.layer) for one in named_in(text, HEAD, TITLE, arg_max)] == expected


def test_operators_inside_of_functions_that_are_called_are_found():
    @tf.function
    def inner(x):
        with tf.name_scope("head/best"):
            return tf.argmax(x, axis=-1)

    outer = traced(lambda x: inner(x) + 1, tf.TensorSpec((None, 3)))
    assert [one.layer for one in named_in("'tf.ArgMax' op", HEAD, TITLE, outer)] == ["head/best"]


def test_without_a_graph_no_layer_is_claimed():
    (one,) = named_in("'tf.ArgMax' op", HEAD, TITLE)
    assert (one.operator, one.layer) == ("ArgMax", "")


def test_an_error_that_names_nothing_is_passed_on(arg_max):
    found = refused(ValueError("no patience"), HEAD, TITLE, arg_max)
    assert found.unsupported == () and "no patience" in str(found) and "batch size 1" in str(found)


def test_loops_of_tensorflow_1_are_to_blame_where_nothing_else_is():
    graph = tf.Graph()
    with graph.as_default():
        x = tf.compat.v1.placeholder(tf.float32, ())
        with tf.name_scope("body/dense"):
            tf.raw_ops.Enter(data=x, frame_name="loop")
    old = SimpleNamespace(function=SimpleNamespace(graph=graph))
    found = refused(ValueError("no patience"), HEAD, TITLE, old)
    (one,) = found.unsupported
    assert (one.operator, one.layer) == ("Enter", "body/dense") and "TensorFlow 1" in str(found)


@pytest.mark.parametrize(
    ("said", "where", "operators"),
    [
        ("m.tflite: Encountered unresolved custom op: Erf.", " at Erf: Encountered", ["Erf"]),
        ("m.tflite: It stopped.", ": It stopped.", []),
    ],
)
def test_a_file_that_litert_does_not_run(said, where, operators, tmp_path):
    path = tmp_path / "m.tflite"
    path.write_bytes(b"in which no operator can be looked up")
    found = not_run(CannotRun(said), HEAD, TITLE, path)
    assert isinstance(found, CannotConvert) and where in str(found)
    assert [one.operator for one in found.unsupported] == operators
