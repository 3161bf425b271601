"""What tf2onnx says, or leaves unsaid, of operators that ONNX does not have."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from stethoscope.compare.convert.converter import CannotConvert, Source
from stethoscope.compare.convert.refusals import (
    raise_for_missing,
    raise_for_unknown,
    raise_for_wide_integers,
    unreadable_tflite,
)
from stethoscope.types import Architecture, Layer, ModelFile


def tflite(*layers: tuple[str, str], dtype: str = "float32") -> Source:
    made = tuple(Layer(path, kind, (None, 3), 0, 0, dtype) for path, kind in layers)
    return Source(
        ModelFile(Path("m.tflite"), "m.tflite"), Architecture("tflite", "", 0, None, (), (), made), None, None
    )


@pytest.mark.parametrize(
    ("told", "operator", "layer"),
    [
        ("Tensorflow op [model/body/dense: TFL_ERF] is not supported", "TFL_ERF", "body/dense"),
        ("Failed to convert node 'model/head/best' (fct=x)\n  because", "ArgMax", "head/best"),
    ],
)
def test_what_tf2onnx_logs_of_a_tflite_file(told, operator, layer):
    model = tflite(("head/best", "ArgMax"), ("body/dense", "MatMul"))
    found = unreadable_tflite(ValueError("make_sure failure: no axis"), [told], model)
    (one,) = found.unsupported
    assert operator.endswith(one.operator) and one.layer == layer
    assert "no axis" in str(found) and "make_sure" not in str(found)


def test_a_bridge_of_quantisation_is_nobodys_layer():
    model = tflite(("head/best", "ArgMax"))
    found = unreadable_tflite(ValueError("no axis"), ["Failed to convert node 'head/best_dequant'"], model)
    assert found.unsupported == () and ": no axis" in str(found)


def test_an_operator_newer_than_tf2onnx_is_named_before_it_reads_the_file():
    from tf2onnx.tflite.BuiltinOperator import BuiltinOperator

    from stethoscope.models.formats.tflite_model.tflite_schema import operator_name

    newest = max(code for code in vars(BuiltinOperator).values() if isinstance(code, int))
    new = operator_name(newest + 1)
    with pytest.raises(CannotConvert, match=new) as told:
        raise_for_unknown(tflite(("a", "CONV_2D"), ("b", new)))
    assert [(one.operator, one.layer) for one in told.value.unsupported] == [(new, "b")]
    raise_for_unknown(tflite(("a", "CONV_2D")))


def onnx_graph(node, initializers=(), opset: int = 17):
    from onnx import helper

    graph = helper.make_graph([node], "g", [], [], list(initializers))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])


def test_integers_of_16_bits_are_refused_and_those_of_8_are_not():
    from onnx import helper, numpy_helper

    def quantised(dtype):
        node = helper.make_node("DequantizeLinear", ["x", "scale", "zero"], ["y"])
        return onnx_graph(node, [numpy_helper.from_array(np.zeros((), dtype), "zero")])

    wide = tflite(("conv", "CONV_2D"), dtype="int16")
    with pytest.raises(CannotConvert, match=r"16-bit integers \(layer conv\)") as told:
        raise_for_wide_integers(quantised(np.int16), wide)
    assert [one.operator for one in told.value.unsupported] == ["CONV_2D (int16)"]
    raise_for_wide_integers(quantised(np.int8), wide)


def test_operators_of_a_later_opset_and_inside_of_branches_are_found():
    from onnx import TensorProto, helper

    def branch(node):
        return helper.make_graph([node], "b", [], [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])

    inside = branch(helper.make_node("Gelu", ["x"], ["y"], name="body/dense/Gelu"))
    plain = branch(helper.make_node("Relu", ["x"], ["y"]))
    choice = helper.make_node("If", ["c"], ["y"], then_branch=inside, else_branch=plain)
    with pytest.raises(CannotConvert, match=r"opset 17 .*Gelu") as told:
        raise_for_missing([], onnx_graph(choice), tflite(("head/best", "ArgMax"), ("body/dense", "MatMul")), 17)
    assert [(one.operator, one.layer) for one in told.value.unsupported] == [("Gelu", "body/dense")]
    raise_for_missing([], onnx_graph(choice, opset=20), tflite(("head/best", "ArgMax"), ("body/dense", "MatMul")), 20)
