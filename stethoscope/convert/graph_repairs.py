"""Operators that tf2onnx does not have, or makes something of that no runtime has, written as others that mean the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Last = tuple[str, list[str], dict[str, Any]]
"""The operator that takes the place of the old one: its type, its inputs, and attributes that it has besides those of the old one."""


def repair(definition: Any) -> None:
    """Changes a GraphDef in place; function bodies too."""
    for node in [one for one in definition.node if one.op in _RECIPES]:
        _replace(_Writer(definition.node, node, inside=False))
    for body in definition.library.function:
        for node in [one for one in body.node_def if one.op in _RECIPES]:
            before = _first_output(node.op)
            _replace(_Writer(body.node_def, node, inside=True))
            _rename_output(body, f"{node.name}:{before}:0", f"{node.name}:{_first_output(node.op)}:0")


def _replace(writer: _Writer) -> None:
    node = writer.node
    op, inputs, attributes = _RECIPES[node.op](writer)
    control = [one for one in node.input if one.startswith("^")]
    node.op = op
    del node.input[:]
    node.input.extend([*inputs, *control])
    for name in set(node.attr) - set(_attributes(op)):
        del node.attr[name]
    for name, value in attributes.items():
        _set(node.attr[name], value)


def _rename_output(body: Any, before: str, after: str) -> None:
    """In a function's body an output is called by its argument, which another operator calls otherwise."""
    for node in body.node_def:
        for place, source in enumerate(node.input):
            if source == before:
                node.input[place] = after
    for name, source in body.ret.items():
        if source == before:
            body.ret[name] = after


def _first_output(op: str) -> str:
    from tensorflow.python.framework import op_def_registry

    return str(op_def_registry.get(op).output_arg[0].name)


@dataclass(frozen=True)
class _Writer:
    """Adds operators beside the one that is replaced."""

    nodes: Any
    node: Any
    inside: bool
    """Within a function's body, where an output is named by its argument."""

    @property
    def inputs(self) -> list[str]:
        return [one for one in self.node.input if not one.startswith("^")]

    @property
    def kind(self) -> int:
        """The number of the dtype it computes in."""
        return int(self.node.attr["T"].type)

    def add(self, op: str, inputs: list[str], **attributes: Any) -> str:
        """A new operator of the same dtype; returns its output."""
        made = self.nodes.add(name=f"{self.node.name}/{op.lower()}_{len(self.nodes)}", op=op)
        made.input.extend(inputs)
        if "T" in _attributes(op) and "T" not in attributes:
            made.attr["T"].type = self.kind
        for name, value in attributes.items():
            _set(made.attr[name], value)
        return self._output(made)

    def constant(self, values: Any, kind: int | None = None) -> str:
        """Numbers as a constant, of the operator's own dtype if no other is given."""
        import numpy as np
        import tensorflow as tf

        dtype = tf.as_dtype(self.kind if kind is None else kind)
        made = self.nodes.add(name=f"{self.node.name}/const_{len(self.nodes)}", op="Const")
        made.attr["dtype"].type = dtype.as_datatype_enum
        made.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(np.asarray(values), dtype=dtype))
        return self._output(made)

    def _output(self, made: Any) -> str:
        return f"{made.name}:{_first_output(made.op)}:0" if self.inside else str(made.name)


def _attributes(op: str) -> list[str]:
    from tensorflow.python.framework import op_def_registry

    return [one.name for one in op_def_registry.get(op).attr]


def _set(attribute: Any, value: Any) -> None:
    if isinstance(value, bool):
        attribute.b = value
    elif isinstance(value, int):
        attribute.type = value
    else:
        raise TypeError(type(value))


def _erfc(one: _Writer) -> Last:
    """1 − erf(x), of the exact GELU: in float32 the tails below 1e-7 lose their relative precision, which GELU adds to nothing smaller."""
    return "Sub", [one.constant(1.0), one.add("Erf", one.inputs)], {}


def _expm1(one: _Writer) -> Last:
    return "Sub", [one.add("Exp", one.inputs), one.constant(1.0)], {}


def _log1p(one: _Writer) -> Last:
    return "Log", [one.add("AddV2", [*one.inputs, one.constant(1.0)])], {}


def _zero_where(one: _Writer, zero: str, value: str) -> Last:
    """0 where one of the factors is, whatever the other is."""
    nothing = one.constant(0.0)
    return "SelectV2", [one.add("Equal", [zero, nothing]), nothing, value], {}


def _xlogy(one: _Writer) -> Last:
    x, y = one.inputs
    return _zero_where(one, x, one.add("Mul", [x, one.add("Log", [y])]))


def _xlog1py(one: _Writer) -> Last:
    x, y = one.inputs
    return _zero_where(one, x, one.add("Mul", [x, one.add("Log", [one.add("AddV2", [y, one.constant(1.0)])])]))


def _xdivy(one: _Writer) -> Last:
    x, y = one.inputs
    return _zero_where(one, x, one.add("RealDiv", [x, y]))


def _mul_no_nan(one: _Writer) -> Last:
    x, y = one.inputs
    return _zero_where(one, y, one.add("Mul", [x, y]))


def _norm(one: _Writer) -> Last:
    x, axes = one.inputs
    keep, kind = bool(one.node.attr["keep_dims"].b), one.node.attr["Tidx"].type
    return "Sqrt", [one.add("Sum", [one.add("Square", [x]), axes], keep_dims=keep, Tidx=kind)], {}


def _bucketize(one: _Writer) -> Last:
    """How many boundaries a value has reached: what Discretization does."""
    import tensorflow as tf

    boundaries = list(one.node.attr["boundaries"].list.f)
    index, truth = tf.int32.as_datatype_enum, tf.bool.as_datatype_enum
    wide = one.add("ExpandDims", [one.inputs[0], one.constant(-1, index)], Tdim=index)
    reached = one.add("GreaterEqual", [wide, one.constant(boundaries)])
    counted = one.add("Cast", [reached], SrcT=truth, DstT=index)
    return "Sum", [counted, one.constant(-1, index)], {"T": index, "Tidx": index, "keep_dims": False}


_RECIPES: dict[str, Callable[[_Writer], Last]] = {
    "Erfc": _erfc,
    "Expm1": _expm1,
    "Log1p": _log1p,
    "Xlogy": _xlogy,
    "Xlog1py": _xlog1py,
    "Xdivy": _xdivy,
    "MulNoNan": _mul_no_nan,
    "EuclideanNorm": _norm,
    "Bucketize": _bucketize,
    "Inv": lambda one: ("Reciprocal", one.inputs, {}),
    "PreventGradient": lambda one: ("Identity", one.inputs, {}),
}
"""What takes the place of each."""
