"""What TensorFlow's CPU kernels do with buffers: which outputs are an input renamed, which may be written over one.

Source: the kernels of tensorflow/core/kernels, by their calls of `set_output`, `forward_input_or_allocate_output` and
`allocate_temp`. Standard library only.

Which layer each operation of a traced graph belongs to, and which layers hold their tensors by name. Used in a worker.

A hook around every layer's call counts the operations made inside it; it is always taken off again.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from stethoscope.models.formats.keras_model.keras_activations import calls_wrapped

Dims = tuple[int, ...]


@dataclass(frozen=True)
class Value:
    """One output of an operation, with every dimension known."""

    name: str
    shape: Dims
    dtype: str
    size_bytes: int


@dataclass(frozen=True)
class Operation:
    """One operation of a graph, with what memory depends on."""

    name: str
    type: str
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    waits_for: tuple[str, ...] = ()
    """Operations that must have run before, besides those whose outputs it reads."""
    attributes: Mapping[str, Any] = field(default_factory=dict)
    inside_bytes: int = 0
    """What its bodies need (loops, calls), beyond what `workspace` knows of its kind."""


FREE = frozenset({"Const", "Placeholder", "NoOp", "Shape", "ShapeN", "Size", "Rank", "VarHandleOp", "_Arg", "_Retval"})
"""They hold nothing that counts: weights are counted apart, shapes are small."""
RENAMED = frozenset(
    {
        "Reshape",
        "Identity",
        "IdentityN",
        "Squeeze",
        "ExpandDims",
        "StopGradient",
        "PreventGradient",
        "CheckNumerics",
        "ReadVariableOp",
        "Bitcast",
        "EnsureShape",
        "PlaceholderWithDefault",
        "Unpack",
        "Snapshot",
        "LoopCond",
        "Enter",
        "Merge",
        "Switch",
        "NextIteration",
        "Exit",
        "TensorListSetItem",
        "TensorListGetItem",
    }
)
"""Every output is the first input (of IdentityN the one in its place) under another name, or a part of it."""
_UNARY = (
    "Abs Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Digamma Elu Erf Erfc Erfinv Exp Expm1 Floor Inv Lgamma LeakyRelu Log "
    "Log1p LogSoftmax LogicalNot Neg Reciprocal Relu Relu6 Rint Round Rsqrt Selu Sigmoid Sign Sin Sinh Softmax Softplus "
    "Softsign Sqrt Square Tan Tanh _UnaryOpsComposition"
)
_BINARY = (
    "Add AddN AddV2 Atan2 BiasAdd BiasAddV1 Div DivNoNan FloorDiv FloorMod LogicalAnd LogicalOr Maximum Minimum Mod Mul "
    "MulNoNan Pow RealDiv Select SelectV2 SquaredDifference Sub TruncateDiv TruncateMod Xdivy Xlogy ClipByValue FusedBatchNorm "
    "FusedBatchNormV2 FusedBatchNormV3 _FusedBatchNormEx Cast ZerosLike OnesLike InplaceUpdate TensorScatterUpdate"
)
ELEMENTWISE = frozenset([*_UNARY.split(), *_BINARY.split()])
"""They may write their output over an input of the same shape and type that nobody else holds."""


def renamed(operation: Operation) -> dict[str, str]:
    """Outputs that are an input under another name: {output: input}."""
    if operation.type in RENAMED and operation.inputs:
        return {
            value.name: operation.inputs[place if operation.type == "IdentityN" else 0].name
            for place, value in enumerate(operation.outputs)
            if operation.type != "Unpack" or int(operation.attributes.get("axis", 0)) == 0
        }
    if operation.type == "TensorListFromTensor" and not operation.outputs[0].size_bytes:
        return {operation.outputs[0].name: operation.inputs[0].name}
    if operation.type == "Cast" and operation.inputs and operation.inputs[0].dtype == operation.outputs[0].dtype:
        return {operation.outputs[0].name: operation.inputs[0].name}
    return {}


def overwritten(operation: Operation) -> tuple[str, ...]:
    """Inputs that its output may be written over."""
    if not operation.outputs:
        return ()
    made = operation.outputs[0]
    if operation.type in ELEMENTWISE:
        return tuple(value.name for value in operation.inputs if (value.shape, value.dtype) == (made.shape, made.dtype))
    if operation.type == "_FusedConv2D" and "Add" in operation.attributes.get("fused_ops", ()):
        return tuple(value.name for value in operation.inputs[3:] if value.shape == made.shape)
    return ()


def workspace_bytes(operation: Operation, threads: int) -> int:
    """What its kernel allocates for the time it runs, in bytes."""
    kernel = _WORKSPACE.get(operation.type)
    return operation.inside_bytes + (kernel(operation, threads) if kernel is not None and operation.outputs else 0)


def cost(operation: Operation) -> float:
    """How long it takes, in bytes moved: the order in which a graph is run depends on it."""
    moved = sum(value.size_bytes for value in (*operation.inputs, *operation.outputs))
    if not operation.outputs or operation.type in FREE or operation.type in RENAMED:
        return 0.0
    made = math.prod(operation.outputs[0].shape)
    if "Conv" in operation.type and len(operation.inputs) > 1:
        filters = operation.inputs[1].shape
        return moved + made * math.prod(filters[:-1]) / 8
    if "MatMul" in operation.type or operation.type == "Einsum":
        return moved + made * max((value.shape[-1] for value in operation.inputs if value.shape), default=1) / 8
    return float(moved)


def _einsum(operation: Operation, threads: int) -> int:
    """Operands are transposed to batch, free, contracted dimensions, and the product back, where their order differs."""
    equation = str(operation.attributes.get("equation", ""))
    left, _, result = equation.partition("->")
    labels = left.split(",")
    if len(labels) != len(operation.inputs) or not result:
        return 0
    total = 0
    everywhere = set(result)
    for place, (label, value) in enumerate(zip(labels, operation.inputs, strict=True)):
        others = set("".join(labels[:place] + labels[place + 1 :]))
        kinds = [
            0 if axis in others and axis in everywhere else 1 if axis in everywhere else 2
            for axis in label.replace(".", "")
        ]
        if kinds != sorted(kinds) and not (place and kinds == sorted(kinds, key=lambda kind: (kind != 0, -kind))):
            total += value.size_bytes
    if len(labels) == 2:
        shared = [axis for axis in labels[0] if axis in labels[1] and axis in everywhere]
        free = [axis for label in labels for axis in label if axis in everywhere and axis not in shared]
        if [*shared, *free] != list(result):
            total += operation.outputs[0].size_bytes
    return total


def _filters(operation: Operation, threads: int) -> int:
    """oneDNN reorders the filters, which are no constants, into its own layout for each call."""
    return operation.inputs[1].size_bytes if len(operation.inputs) > 1 else 0


_WORKSPACE: Mapping[str, Callable[[Operation, int], int]] = {
    "Einsum": _einsum,
    "Conv2D": _filters,
    "_FusedConv2D": _filters,
    "Conv3D": _filters,
    "DepthwiseConv2dNative": _filters,
    "_FusedDepthwiseConv2dNative": _filters,
    "Conv2DBackpropInput": _filters,
}


@dataclass
class Call:
    """One call of a layer while a function was traced."""

    path: str
    """Its path in the layer table; that of the layer around it where it has none."""
    holds: bool
    """Whether what its parts return stays referenced until it returns."""
    around: Call | None
    operations: set[str] = field(default_factory=set)
    made: tuple[str, ...] = ()
    """Tensors it returned."""


@dataclass
class Scopes:
    """The calls of one trace, in the order in which they began."""

    calls: list[Call] = field(default_factory=list)

    @functools.cached_property
    def by_operation(self) -> Mapping[str, str]:
        """The layer path of each operation: that of the innermost call that made it."""
        found: dict[str, str] = {}
        for call in self.calls:  # inner calls begin later, so they have the last word
            found.update(dict.fromkeys(call.operations, call.path))
        return found

    @functools.cached_property
    def _by_prefix(self) -> Mapping[str, str]:
        found: dict[str, str] = {}
        for name, path in self.by_operation.items():
            prefix = name.rpartition("/")[0]
            if prefix:
                found.setdefault(prefix, path)
        return found

    def layer(self, operation: str) -> str:
        """The layer an operation belongs to, also after the optimiser renamed it; "" where none is known."""
        found = self.by_operation.get(operation)
        prefix = operation
        while found is None and "/" in prefix:
            prefix = prefix.rpartition("/")[0]
            found = self._by_prefix.get(prefix)
        return found or ""

    def held_until(self, positions: Mapping[str, int]) -> dict[str, int]:
        """The place in the order until which a Python name holds a tensor: the last operation of the call around its maker.

        Args:
            positions: the place of each operation in the order in which they run.
        """
        ends: dict[int, int] = {}
        for call in self.calls:
            ends[id(call)] = max((positions[name] for name in call.operations if name in positions), default=0)
        until: dict[str, int] = {}
        for call in self.calls:
            if call.around is not None and call.around.holds:
                for name in call.made:
                    until[name] = max(until.get(name, 0), ends[id(call.around)])
        return until


@contextmanager
def watched(keras: Any, paths: Mapping[int, str]) -> Iterator[Scopes]:
    """Records the calls of layers while a function is traced.

    Args:
        keras: keras or tf_keras.
        paths: layer paths by the identity of the layer.
    """
    import tensorflow as tf

    scopes = Scopes()
    open_calls: list[Call] = []
    # tf_keras drops a tensor of a functional model when its last reader has it; Keras 3 keeps all to the end of the call.
    modern = keras.__name__ == "keras"
    layer_kind = keras.layers.Layer

    def seen(self: Any, original: Any, args: Any, kwargs: Any) -> Any:
        graph = tf.compat.v1.get_default_graph()
        around = open_calls[-1] if open_calls else None
        path = paths.get(id(self), around.path if around else "")
        functional = hasattr(self, "_inputs_struct") or hasattr(self, "_nested_inputs") or hasattr(self, "_functional")
        found = Call(path, modern or not functional, around)
        scopes.calls.append(found)
        open_calls.append(found)
        before = len(graph.get_operations())
        try:
            result = original(self, *args, **kwargs)
        finally:
            open_calls.pop()
        found.operations = {operation.name for operation in graph.get_operations()[before:]}
        found.made = tuple(item.name for item in tf.nest.flatten(result) if isinstance(item, tf.Tensor))
        return result

    def wrapped(kind: type, original: Any) -> Any:
        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            # A layer is also an operation: it is seen once, by its own class's hook.
            if tf.executing_eagerly() or (kind is not layer_kind and isinstance(self, layer_kind)):
                return original(self, *args, **kwargs)
            return seen(self, original, args, kwargs)

        return call

    with calls_wrapped(keras, wrapped):
        yield scopes
