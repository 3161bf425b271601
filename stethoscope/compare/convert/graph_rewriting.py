"""Operators of a GraphDef written as others that mean the same, in the graph and in the bodies of its functions.

Operators that tf2onnx does not have, or makes something of that no runtime has, written as others that mean the same.

Spectra of real signals (tf.signal.rfft, stft) without complex numbers: two matrix products with the cosine and the sine table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Last = tuple[str, list[str], dict[str, Any]]
"""The operator that takes the place of the old one: its type, its inputs, and attributes that it has besides those of the old one."""


def rewrite(definition: Any, recipes: Mapping[str, Callable[[Writer], Last | None]]) -> None:
    """Changes a GraphDef in place; function bodies too.

    Args:
        definition: the graph.
        recipes: what takes the place of each type of operator; one that gives None leaves the operator as it is.
    """
    for node in [one for one in definition.node if one.op in recipes]:
        _replace(Writer(definition.node, node, inside=False), recipes)
    for body in definition.library.function:
        for node in [one for one in body.node_def if one.op in recipes]:
            before = _first_output(node.op)
            _replace(Writer(body.node_def, node, inside=True), recipes)
            _rename_output(body, f"{node.name}:{before}:0", f"{node.name}:{_first_output(node.op)}:0")


def _replace(writer: Writer, recipes: Mapping[str, Callable[[Writer], Last | None]]) -> None:
    node = writer.node
    last = recipes[node.op](writer)
    if last is None:
        return
    op, inputs, attributes = last
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
class Writer:
    """Adds operators beside the one that is replaced."""

    nodes: Any
    node: Any
    inside: bool
    """Within a function's body, where an output is named by its argument."""

    @property
    def inputs(self) -> list[str]:
        """What it reads, without what it only waits for."""
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

    def behind(self, name: str) -> Any:
        """The operator that a value comes from, past those that only pass it on; None for an input of the graph."""
        by_name = {node.name: node for node in self.nodes}
        found = by_name.get(name.partition(":")[0])
        while found is not None and found.op == "Identity":
            found = by_name.get(found.input[0].partition(":")[0])
        return found

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


_FLOAT32, _INT32 = 1, 3
"""Numbers of TensorFlow's dtypes."""
_MOST_POINTS = 8192
"""A longer table would be larger than most models."""


def real(one: Writer) -> Last | None:
    """Re(rfft(x)) = Σ x·cos(2πnk/N)."""
    part = _part(one, "cos")
    return None if part is None else ("Identity", [part], {"T": _FLOAT32})


def imaginary(one: Writer) -> Last | None:
    """Im(rfft(x)) = −Σ x·sin(2πnk/N)."""
    part = _part(one, "sin")
    return None if part is None else ("Identity", [part], {"T": _FLOAT32})


def magnitude(one: Writer) -> Last | None:
    """|rfft(x)|."""
    parts = [_part(one, table) for table in ("cos", "sin")]
    if None in parts:
        return None
    squares = [one.add("Square", [part], T=_FLOAT32) for part in parts if part is not None]
    return "Sqrt", [one.add("AddV2", squares, T=_FLOAT32)], {"T": _FLOAT32}


def _part(one: Writer, table: str) -> str | None:
    """The product with one table; None where the number is not the spectrum of a real signal of known length."""
    import numpy as np

    spectrum = one.behind(one.inputs[0])
    if spectrum is None or spectrum.op != "RFFT":
        return None
    signal, length = [name for name in spectrum.input if not name.startswith("^")]
    points = _constant(one.behind(length))
    if points is None or not 0 < points <= _MOST_POINTS or spectrum.attr["Treal"].type not in (0, _FLOAT32):
        return None
    angles = 2 * np.pi / points * (np.arange(points)[:, None] * np.arange(points // 2 + 1)[None, :] % points)
    values = np.cos(angles) if table == "cos" else -np.sin(angles)
    axis = one.constant(-2, _INT32)
    row = one.add("ExpandDims", [signal, axis], T=_FLOAT32, Tdim=_INT32)  # a signal alone, too, is a matrix then
    product = one.add("BatchMatMulV2", [row, one.constant(values, _FLOAT32)], T=_FLOAT32)
    return one.add("Sum", [product, axis], T=_FLOAT32, Tidx=_INT32, keep_dims=False)


def _constant(node: Any) -> int | None:
    import tensorflow as tf

    if node is None or node.op != "Const":
        return None
    values = tf.make_ndarray(node.attr["value"].tensor).reshape(-1)
    return int(values[0]) if len(values) == 1 else None


def repair(definition: Any) -> None:
    """Changes a GraphDef in place; function bodies too."""
    rewrite(definition, _RECIPES)


def has_sign_bits(definition: Any) -> bool:
    """Whether a GraphDef may look at the bits of floats for their sign."""
    bodies = (definition.node, *(body.node_def for body in definition.library.function))
    return any(node.op == "BitwiseAnd" for nodes in bodies for node in nodes)


def repair_sign_bits(definition: Any) -> None:
    """Changes a GraphDef in place so that it compares floats where it looked at their bits: LiteRT cannot, and Keras' argmax does."""
    rewrite(definition, {"BitwiseAnd": _sign_bit})


def _erfc(one: Writer) -> Last:
    """1 − erf(x), of the exact GELU: in float32 the tails below 1e-7 lose their relative precision, which GELU adds to nothing smaller."""
    return "Sub", [one.constant(1.0), one.add("Erf", one.inputs)], {}


def _expm1(one: Writer) -> Last:
    return "Sub", [one.add("Exp", one.inputs), one.constant(1.0)], {}


def _log1p(one: Writer) -> Last:
    return "Log", [one.add("AddV2", [*one.inputs, one.constant(1.0)])], {}


def _zero_where(one: Writer, zero: str, value: str) -> Last:
    """0 where one of the factors is, whatever the other is."""
    nothing = one.constant(0.0)
    return "SelectV2", [one.add("Equal", [zero, nothing]), nothing, value], {}


def _xlogy(one: Writer) -> Last:
    x, y = one.inputs
    return _zero_where(one, x, one.add("Mul", [x, one.add("Log", [y])]))


def _xlog1py(one: Writer) -> Last:
    x, y = one.inputs
    return _zero_where(one, x, one.add("Mul", [x, one.add("Log", [one.add("AddV2", [y, one.constant(1.0)])])]))


def _xdivy(one: Writer) -> Last:
    x, y = one.inputs
    return _zero_where(one, x, one.add("RealDiv", [x, y]))


def _mul_no_nan(one: Writer) -> Last:
    x, y = one.inputs
    return _zero_where(one, y, one.add("Mul", [x, y]))


def _norm(one: Writer) -> Last:
    x, axes = one.inputs
    keep, kind = bool(one.node.attr["keep_dims"].b), one.node.attr["Tidx"].type
    return "Sqrt", [one.add("Sum", [one.add("Square", [x]), axes], keep_dims=keep, Tidx=kind)], {}


def _bucketize(one: Writer) -> Last:
    """How many boundaries a value has reached: what Discretization does."""
    import tensorflow as tf

    boundaries = list(one.node.attr["boundaries"].list.f)
    index, truth = tf.int32.as_datatype_enum, tf.bool.as_datatype_enum
    wide = one.add("ExpandDims", [one.inputs[0], one.constant(-1, index)], Tdim=index)
    reached = one.add("GreaterEqual", [wide, one.constant(boundaries)])
    counted = one.add("Cast", [reached], SrcT=truth, DstT=index)
    return "Sum", [counted, one.constant(-1, index)], {"T": index, "Tidx": index, "keep_dims": False}


def _sign_bit(one: Writer) -> Last | None:
    """The sign of a float by its bits, with which Keras' argmax tells −0 from 0: negative, or with a negative reciprocal."""
    import tensorflow as tf

    float32 = tf.float32.as_datatype_enum
    bits, mask = (one.behind(name) for name in one.inputs)
    if bits is None or mask is None or (bits.op, mask.op) != ("Bitcast", "Const") or bits.attr["T"].type != float32:
        return None
    if one.kind != tf.int32.as_datatype_enum or not (tf.make_ndarray(mask.attr["value"].tensor) == tf.int32.min).all():
        return None
    x, nothing = bits.input[0], one.constant(0.0, float32)
    negative = one.add("Less", [x, nothing], T=float32)
    below = one.add("Less", [one.add("Reciprocal", [x], T=float32), nothing], T=float32)
    return "SelectV2", [one.add("LogicalOr", [negative, below]), one.constant(tf.int32.min), one.constant(0)], {}


_RECIPES: dict[str, Callable[[Writer], Last | None]] = {
    "Erfc": _erfc,
    "Expm1": _expm1,
    "Log1p": _log1p,
    "Xlogy": _xlogy,
    "Xlog1py": _xlog1py,
    "Xdivy": _xdivy,
    "MulNoNan": _mul_no_nan,
    "EuclideanNorm": _norm,
    "Bucketize": _bucketize,
    "BitwiseAnd": _sign_bit,
    "Real": real,
    "Imag": imaginary,
    "ComplexAbs": magnitude,
    "Inv": lambda one: ("Reciprocal", one.inputs, {}),
    "PreventGradient": lambda one: ("Identity", one.inputs, {}),
}
"""What takes the place of each."""
