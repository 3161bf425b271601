"""Operators that tf2onnx does not have, or makes something of that no runtime has, written as others that mean the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stethoscope.convert.graph_rewriting import Last, Writer, rewrite


def repair(definition: Any) -> None:
    """Changes a GraphDef in place; function bodies too."""
    rewrite(definition, _RECIPES)


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


_RECIPES: dict[str, Callable[[Writer], Last]] = {
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
