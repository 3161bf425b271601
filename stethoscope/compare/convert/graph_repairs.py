"""Operators that tf2onnx does not have, or makes something of that no runtime has, written as others that mean the same.

Spectra of real signals (tf.signal.rfft, stft) without complex numbers: two matrix products with the cosine and the sine table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stethoscope.compare.convert.graph_rewriting import Last, Writer, rewrite

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
