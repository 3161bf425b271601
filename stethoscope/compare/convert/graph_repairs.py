"""Operators that tf2onnx does not have, or makes something of that no runtime has, written as others that mean the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stethoscope.compare.convert import spectra
from stethoscope.compare.convert.graph_rewriting import Last, Writer, rewrite


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
    "Real": spectra.real,
    "Imag": spectra.imaginary,
    "ComplexAbs": spectra.magnitude,
    "Inv": lambda one: ("Reciprocal", one.inputs, {}),
    "PreventGradient": lambda one: ("Identity", one.inputs, {}),
}
"""What takes the place of each."""
