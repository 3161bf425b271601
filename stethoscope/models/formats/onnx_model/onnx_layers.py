"""ONNX nodes as layers: paths, parameters and shapes, subgraphs and functions included."""

from __future__ import annotations

import math
from collections import ChainMap
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from stethoscope.models.formats.onnx_model import onnx_shapes
from stethoscope.models.formats.onnx_model.onnx_tensors import DTYPES
from stethoscope.models.quantisation import STORED, Scales
from stethoscope.types import Layer, Operand, Shape, TensorSpec

if TYPE_CHECKING:
    import onnx

_STANDARD = ("", "ai.onnx")
_SHOWN_WEIGHTS = 8
_SHOWN_VALUES = 64
_WIDE_INTEGERS = ("int16", "uint16", "int32", "uint32", "int64", "uint64")
_SETTINGS = {
    "QuantizeLinear": {1, 2},
    "DequantizeLinear": {1, 2},
    "QLinearConv": {1, 2, 4, 5, 6, 7},
    "QLinearMatMul": {1, 2, 4, 5, 6, 7},
    "ConvInteger": {2, 3},
    "MatMulInteger": {2, 3},
    "Resize": {1, 2, 3},
    "Upsample": {1},
}
"""Inputs that say how to compute (scales, zero points, sizes) and are not computed with. Source: ONNX operator specification."""
_INTEGER_WEIGHTS = {"DequantizeLinear": {0}, "QLinearConv": {8}}
"""Inputs where integers wider than 8 bits are quantised biases."""


@dataclass(frozen=True)
class Constant:
    """A stored tensor: an initializer, or the value of a Constant node."""

    name: str
    shape: tuple[int, ...]
    dtype: str


@dataclass
class _Scope:
    """Names visible in one graph; a subgraph sees those around it."""

    constants: MutableMapping[str, Constant]
    producers: MutableMapping[str, str]


@dataclass
class LayerReader:
    """Turns one model's graph into layers. `taken` and `counted` span all graphs, so paths are unique and weights count once."""

    types: onnx_shapes.Types
    scales: Scales = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)
    counted: set[int] = field(default_factory=set)

    def main(self, graph: onnx.GraphProto) -> Iterator[Layer]:
        """Yields the layers of the main graph in execution order, each followed by those of its bodies."""
        yield from self._graph(graph, "", "", _Scope(ChainMap(), ChainMap()))

    def main_paths(self, graph: onnx.GraphProto) -> dict[int, str]:
        """Returns the path of each layer of the main graph by its node's position."""
        return self._paths(graph.node, {value.name for value in graph.output}, "")

    def function(self, function: onnx.FunctionProto) -> Iterator[Layer]:
        """Yields the nodes of a model-local function, once however often it is called."""
        prefix = f"{function.domain}.{function.name}/" if function.domain else f"{function.name}/"
        yield from self._nodes(
            function.node, set(function.output), prefix, f"function {prefix}", _Scope(ChainMap(), ChainMap())
        )

    def _graph(self, graph: onnx.GraphProto, prefix: str, key: str, around: _Scope) -> Iterator[Layer]:
        scope = _Scope(ChainMap({}, around.constants), ChainMap({}, around.producers))
        # A body's own inputs hide whatever has their name outside.
        for value in graph.input:
            scope.constants[value.name] = _NOTHING
            scope.producers[value.name] = ""
        for tensor in graph.initializer:
            scope.constants[tensor.name] = _constant(tensor.name, tensor.dims, tensor.data_type)
        for sparse in graph.sparse_initializer:
            scope.constants[sparse.values.name] = _constant(sparse.values.name, sparse.dims, sparse.values.data_type)
        yield from self._nodes(graph.node, {value.name for value in graph.output}, prefix, key, scope)

    def _nodes(self, nodes: Any, results: set[str], prefix: str, key: str, scope: _Scope) -> Iterator[Layer]:
        paths = self._paths(nodes, results, prefix)
        for position, node in enumerate(nodes):
            constant = constant_of(node)
            if constant is not None and position not in paths:
                scope.constants[constant.name] = constant
                continue
            for name in node.output:
                if name:
                    scope.producers[name] = paths[position]
        values = self.types.get(key, {})
        for position, path in paths.items():
            node = nodes[position]
            yield self._layer(node, path, values, scope)
            for attribute, inner in onnx_shapes.subgraphs(node):
                yield from self._graph(inner, f"{path}/{attribute}/", f"{key}/{position}.{attribute}", scope)

    def _paths(self, nodes: Any, results: set[str], prefix: str) -> dict[int, str]:
        """A Constant belongs to whoever reads it, as an initializer does, unless the graph returns it."""
        paths = {}
        for position, node in enumerate(nodes):
            constant = constant_of(node)
            if constant is None or constant.name in results:
                paths[position] = self._path(prefix, node, position)
        return paths

    def _path(self, prefix: str, node: onnx.NodeProto, position: int) -> str:
        path = prefix + (node.name or f"{node.op_type}_{position}")
        while path in self.taken:
            path = f"{path}_{position}"
        self.taken.add(path)
        return path

    def _layer(self, node: onnx.NodeProto, path: str, values: dict[str, TensorSpec], scope: _Scope) -> Layer:
        outputs = [values.get(name, TensorSpec(name, None, "")) for name in node.output if name]
        weights = [
            constant
            for position, name in enumerate(node.input)
            if name
            and (constant := scope.constants.get(name, _NOTHING)) is not _NOTHING
            and is_weight(node.op_type, position, constant)
        ]
        own = constant_of(node)
        weights += [own] if own is not None and is_weight("", 0, own) else []
        parameters = 0
        for constant in weights:
            if id(constant) not in self.counted:
                self.counted.add(id(constant))
                parameters += math.prod(constant.shape)
        read = [*node.input, *(name for _, inner in onnx_shapes.subgraphs(node) for name in _captured(inner))]
        sources = (scope.producers.get(name, "") for name in read)
        return Layer(
            path=path,
            type=node.op_type if node.domain in _STANDARD else f"{node.domain}.{node.op_type}",
            output_shape=outputs[0].shape if outputs else None,
            parameters=parameters,
            trainable_parameters=0,
            dtype=outputs[0].dtype if outputs else "",
            inputs=tuple(dict.fromkeys(source for source in sources if source and source != path)),
            config=_config(node, weights, outputs) | self._quantisation(outputs),
            operands=tuple(_operand(name, values, scope) for name in node.input),
        )

    def _quantisation(self, outputs: list[TensorSpec]) -> dict[str, Any]:
        """What the first output's integers stand for, as TFLite's layers say it."""
        if not outputs or outputs[0].dtype not in STORED or outputs[0].name not in self.scales:
            return {}
        scale, zero_point = self.scales[outputs[0].name]
        return {"output_quantization": {"kind": "per tensor", "scale": scale, "zero_point": zero_point}}


_NOTHING = Constant("", (), "")


def _operand(name: str, values: dict[str, TensorSpec], scope: _Scope) -> Operand:
    constant = scope.constants.get(name, _NOTHING)
    shape: Shape | None = constant.shape
    if constant is _NOTHING:
        shape = values[name].shape if name in values else None
    return Operand(scope.producers.get(name, ""), shape)


def is_weight(op_type: str, position: int, constant: Constant) -> bool:
    """Whether a stored tensor counts as parameters where input `position` of `op_type` reads it.

    The rule: it has at least one dimension and is a number the model computes with: floating point, an integer of at most
    8 bits, or a quantised bias. Scalars, shapes, axes, indices, strings, quantisation scales and zero points do not count.
    """
    if not constant.shape or constant.dtype in ("", "string", "bool") or position in _SETTINGS.get(op_type, ()):
        return False
    return constant.dtype not in _WIDE_INTEGERS or position in _INTEGER_WEIGHTS.get(op_type, ())


def constant_of(node: onnx.NodeProto) -> Constant | None:
    """Returns what a Constant node holds; None for any other node."""
    if node.op_type != "Constant" or node.domain not in _STANDARD or not node.output:
        return None
    name = node.output[0]
    for attribute in node.attribute:
        if attribute.name == "value":
            return _constant(name, attribute.t.dims, attribute.t.data_type)
        if attribute.name == "sparse_value":
            return _constant(name, attribute.sparse_tensor.dims, attribute.sparse_tensor.values.data_type)
        if attribute.name in ("value_floats", "value_float"):
            return Constant(name, (len(attribute.floats),) if attribute.name.endswith("s") else (), "float32")
        if attribute.name in ("value_ints", "value_int"):
            return Constant(name, (len(attribute.ints),) if attribute.name.endswith("s") else (), "int64")
    return Constant(name, (), "string")


def generated_weights(graph: onnx.GraphProto) -> int:
    """Returns how many weights a ConstantOfShape node makes at run time, as in models published without their weights."""
    made = {name for node in graph.node if node.op_type == "ConstantOfShape" for name in node.output}
    return len(
        {
            name
            for node in graph.node
            if node.op_type in ("Conv", "Gemm", "MatMul", "BatchNormalization")
            for name in node.input
            if name in made
        }
    )


def _constant(name: str, dims: Any, data_type: int) -> Constant:
    return Constant(name, tuple(max(0, size) for size in dims), DTYPES.get(data_type, ("", 0))[0])


def _captured(graph: onnx.GraphProto) -> Iterator[str]:
    """Yields names a body reads; those it defines itself are among them and find no producer outside."""
    own = {value.name for value in graph.input} | {name for node in graph.node for name in node.output}
    for node in graph.node:
        for name in node.input:
            if name not in own:
                yield name
        for _, inner in onnx_shapes.subgraphs(node):
            yield from (name for name in _captured(inner) if name not in own)
    yield from (value.name for value in graph.output if value.name not in own)


def _config(node: onnx.NodeProto, weights: list[Constant], outputs: list[TensorSpec]) -> dict[str, Any]:
    config = {attribute.name: value for attribute in node.attribute if (value := _shown(attribute)) is not None}
    if weights:
        config["weights"] = [
            {"name": w.name, "shape": list(w.shape), "dtype": w.dtype} for w in weights[:_SHOWN_WEIGHTS]
        ]
    if len(outputs) > 1:
        config["outputs"] = [
            {"name": o.name, "shape": None if o.shape is None else list(o.shape)} for o in outputs[:_SHOWN_VALUES]
        ]
    return config


def _shown(attribute: onnx.AttributeProto) -> Any:
    if attribute.ref_attr_name:
        return f"the function's {attribute.ref_attr_name}"
    if attribute.HasField("t"):
        return f"{DTYPES.get(attribute.t.data_type, ('tensor', 0))[0]} {list(attribute.t.dims)}"
    if attribute.HasField("s"):
        return attribute.s[:200].decode("utf-8", "replace")
    if attribute.HasField("f"):
        return attribute.f
    if attribute.HasField("i"):
        return attribute.i
    for values in (attribute.ints, attribute.floats):
        if values:
            return list(values) if len(values) <= _SHOWN_VALUES else f"{len(values):,} numbers"
    if attribute.strings:
        return [text[:200].decode("utf-8", "replace") for text in attribute.strings[:_SHOWN_VALUES]]
    return None
