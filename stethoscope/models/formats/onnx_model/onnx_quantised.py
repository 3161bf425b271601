"""Which integers of an ONNX graph stand for real numbers, and by what scale: told by the operators that make and read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from stethoscope.models.formats.onnx_model.onnx_shapes import spec
from stethoscope.models.formats.onnx_model.onnx_tensors import DTYPES
from stethoscope.models.model_format import Ends
from stethoscope.models.quantisation import STORED, Scale, held_range

if TYPE_CHECKING:
    import onnx

_MOVING = {
    "Reshape",
    "Transpose",
    "Squeeze",
    "Unsqueeze",
    "Flatten",
    "Identity",
    "Slice",
    "MaxPool",
    "DepthToSpace",
    "SpaceToDepth",
    "Expand",
    "Tile",
    "Split",
    "Gather",
}
"""What comes out holds values that went in first, by the same scale."""
_OF_THREE = {"QLinearAdd", "QLinearMul", "QLinearConv", "QLinearMatMul", "QGemm", "QLinearWhere"}
_OF_TWO = {
    "QLinearAveragePool",
    "QLinearGlobalAveragePool",
    "QLinearLeakyRelu",
    "QLinearReduceMean",
    "QLinearSigmoid",
    "QLinearSoftmax",
}
"""(value, scale, zero point) of one or two operands, then scale and zero point of the answer. Source: ONNX's operators, and those
of com.microsoft in ONNX Runtime's ContribOperators.md."""


def scales(graph: onnx.GraphProto) -> dict[str, Scale]:
    """(scale, zero point) by the name of each tensor of the main graph whose integers are known to stand for real numbers."""
    constants = _scalars(graph)
    found: dict[str, Scale] = {}
    for node in graph.node:
        told = _of(constants, _answer(node))
        if told is None and node.op_type in _MOVING and node.input:
            told = found.get(node.input[0])
        if told is not None:
            found |= {name: told for name in node.output if name}
    for node in reversed(graph.node):
        for name, place in _operands(node):
            told = _of(constants, place)
            if told is not None:
                found.setdefault(name, told)
        if node.op_type in _MOVING and node.input and node.output and node.output[0] in found:
            found.setdefault(node.input[0], found[node.output[0]])
    return found


def ends(graph: onnx.GraphProto) -> Ends:
    """How inputs and outputs stand for real numbers; a range also of inputs in float that are quantised first."""
    known = scales(graph)
    inputs = {one.name: spec(one).dtype for one in graph.input}
    outputs = {one.name: spec(one).dtype for one in graph.output}
    ranges = {name: (dtype, known.get(name)) for name, dtype in inputs.items()}
    for name, dtype in inputs.items():
        if dtype.startswith("float"):
            readers = [node for node in graph.node if name in node.input]
            if readers and all(node.op_type == "QuantizeLinear" for node in readers):
                made = readers[0].output[0]
                ranges[name] = _dtype(graph, readers[0]), known.get(made)
    held = {name: held_range(dtype, scale) for name, (dtype, scale) in ranges.items()}
    return Ends(
        {name: known[name] for name, dtype in inputs.items() if name in known and dtype in STORED},
        {name: known[name] for name, dtype in outputs.items() if name in known and dtype in STORED},
        {name: one for name, one in held.items() if one is not None},
    )


def _answer(node: onnx.NodeProto) -> Sequence[str]:
    """Names of the scale and the zero point of what a node answers; empty where it says none."""
    given, kind = list(node.input), node.op_type
    if kind == "QuantizeLinear":
        return given[1:3]
    if kind in _OF_THREE:
        return given[6:8]
    if kind in _OF_TWO:
        return given[3:5]
    return given[:2] if kind == "QLinearConcat" else ()


def _operands(node: onnx.NodeProto) -> Iterator[tuple[str, Sequence[str]]]:
    """(tensor, names of its scale and zero point) of what a node reads as integers."""
    given, kind = list(node.input), node.op_type
    if kind == "DequantizeLinear" or kind in _OF_TWO:
        yield given[0], given[1:3]
    elif kind in _OF_THREE:
        yield given[0], given[1:3]
        yield given[3], given[4:6]
    elif kind == "QLinearConcat":
        for start in range(2, len(given), 3):
            yield given[start], given[start + 1 : start + 3]


def _of(constants: Mapping[str, float], place: Sequence[str]) -> Scale | None:
    if not place or place[0] not in constants or not constants[place[0]] > 0:
        return None
    zero = constants.get(place[1]) if len(place) > 1 and place[1] else 0.0
    return None if zero is None else (constants[place[0]], int(zero))


def _scalars(graph: onnx.GraphProto) -> dict[str, float]:
    """Stored tensors of one value."""
    from onnx import numpy_helper

    stored: list[tuple[str, Any]] = [(one.name, one) for one in graph.initializer]
    for node in graph.node:
        if node.op_type == "Constant" and node.output:
            stored += [(node.output[0], one.t) for one in node.attribute if one.name == "value"]
    found = {}
    for name, tensor in stored:
        if all(size == 1 for size in tensor.dims) and not tensor.external_data and tensor.data_type not in (0, 8):
            found[name] = float(numpy_helper.to_array(tensor).reshape(()))
    return found


def _dtype(graph: onnx.GraphProto, node: onnx.NodeProto) -> str:
    """In what type a QuantizeLinear answers: that of its zero point, uint8 without one."""
    kinds = {one.name: one.data_type for one in graph.initializer}
    zero = node.input[2] if len(node.input) > 2 else ""
    return DTYPES[kinds[zero]][0] if zero in kinds else "uint8"
