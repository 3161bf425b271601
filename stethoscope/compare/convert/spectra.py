"""Spectra of real signals (tf.signal.rfft, stft) without complex numbers: two matrix products with the cosine and the sine table."""

from __future__ import annotations

from typing import Any

from stethoscope.compare.convert.graph_rewriting import Last, Writer

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
