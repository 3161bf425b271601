"""Output shapes of plain operations in a Keras graph: Keras 3 `Operation` nodes and Keras 2 `TFOpLambda` layers.

Keras 3 files record the shape of every tensor that something reads, so these rules matter for the last node of a graph
and for Keras 2 files, which record nothing.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Sequence
from typing import Any

from stethoscope.models.formats.keras_model.keras_layer_shapes import (
    broadcast,
    concatenated,
    einsum_shape,
    fill_unknown,
)
from stethoscope.models.formats.keras_model.keras_spatial_shapes import Shapes
from stethoscope.types import Shape

_words = re.compile(r"\w+").findall

_ELEMENTWISE_ONE = _words(
    "abs absolute negative neg exp expm1 log log1p log2 log10 sqrt rsqrt square sin cos tan sinh cosh tanh arcsin "
    "arccos arctan asin acos atan sigmoid relu relu6 elu selu gelu silu swish softplus softsign softmax "
    "logsoftmax leakyrelu hardsigmoid hardtanh hardswish hardsilu celu glu mish erf erfinv floor ceil ceiling "
    "round sign reciprocal cast identity stopgradient isnan isfinite isinf logicalnot clip clipbyvalue zeroslike "
    "oneslike fulllike nantonum cumsum cumprod flip reverse roll sort argsort l2normalize normalize logsumexpkeep "
    "invert dropout tril triu rint sparseplus squareplus threshold tanhshrink softshrink hardshrink logsigmoid "
    "conj real imag angle cbrt dct copy array converttotensor ensureshape checknumerics"
)
_ELEMENTWISE_MANY = _words(
    "add addv2 subtract sub multiply mul divide truedivide realdiv truediv floordivide floordiv divnonan mod "
    "remainder floormod power pow maximum minimum squareddifference equal notequal greater greaterequal less "
    "lessequal logicaland logicalor logicalxor and or xor where select selectv2 arctan2 atan2 hypot logaddexp "
    "bitwiseand bitwiseor bitwisexor biasadd addn isclose nextafter"
)
_REDUCTIONS = {
    name: name
    for name in _words(
        "mean sum max min prod any all std var amax amin reducemean reducesum reducemax reducemin reduceprod "
        "reduceany reduceall reducestd reducevariance reducelogsumexp logsumexp argmax argmin countnonzero median "
        "norm reduceeuclideannorm"
    )
}


_FLATTENING = frozenset(_words("cumsum cumprod argsort sort"))
"""Keras 3 flattens their input where it writes down that no axis was given; Keras 2 writes no axis down where it is the first."""


def operation_key(name: str) -> str:
    """One key for an operation under all its names: "GetItem", "math.reduce_mean", "compat.v1.transpose", "AddV2" …"""
    last = name.rsplit(".", 1)[-1]
    return re.sub(r"[^a-z0-9]", "", last.lower())


def operation_output_shapes(name: str, config: dict[str, Any], args: list[Any], kwargs: dict[str, Any]) -> Shapes:
    """Returns the output shapes of one operation; [None] when not known.

    Args:
        name: class name of the operation, or the TensorFlow function's name.
        config: its config; Keras 3 keeps axis and the like there.
        args: positional arguments, with a `Known` in place of each tensor.
        kwargs: keyword arguments, likewise.
    """
    try:
        return _shapes(operation_key(name), {**config, **kwargs}, args)
    except (TypeError, ValueError, IndexError, KeyError, AttributeError, ZeroDivisionError):
        return [None]


class Known:
    """A tensor argument, known by its shape."""

    def __init__(self, shape: Shape | None) -> None:
        self.shape = shape


def _shapes(key: str, options: dict[str, Any], args: list[Any]) -> Shapes:
    tensors = [item for item in _flat([args, list(options.values())]) if isinstance(item, Known)]
    shape = tensors[0].shape if tensors else None
    if key in _FLATTENING and "axis" in options and options["axis"] is None:
        return [None if shape is None else (_elements(shape),)]
    if key in _ELEMENTWISE_ONE:
        return [shape]
    if key in _ELEMENTWISE_MANY:
        constants = [_constant(item) for item in args if not isinstance(item, Known | list)]
        return [broadcast([tensor.shape for tensor in tensors] + [item for item in constants if item])]
    if key in _REDUCTIONS:
        # TensorFlow's argmax goes along the first axis where none is given; Keras' writes down that there is none.
        missing = 0 if key in ("argmax", "argmin") else None
        axis = options.get("axis", options.get("reduction_indices", args[1] if len(args) > 1 else missing))
        return [
            None if shape is None else _reduced(shape, axis, bool(options.get("keepdims", options.get("keep_dims"))))
        ]
    if key in ("concatenate", "concat", "concatv2"):
        axis = options.get("axis", args[1] if len(args) > 1 and isinstance(args[1], int) else 0)
        return [concatenated([tensor.shape for tensor in tensors], int(axis))]
    if key == "einsum":
        equation = options.get("subscripts") or options.get("equation") or args[0]
        return [einsum_shape(str(equation), [tensor.shape for tensor in tensors])]
    if shape is None:
        return [None]
    rule = _RULES.get(key)
    return rule(shape, options, args, tensors) if rule else [None]


def _flat(value: Any, depth: int = 0) -> list[Any]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple) and depth < 6:
        return [leaf for item in value for leaf in _flat(item, depth + 1)]
    return [value]


def _constant(value: Any) -> Shape | None:
    if isinstance(value, dict):
        config = value.get("config")
        value = config.get("value") if isinstance(config, dict) else None
    shape: list[int | None] = []
    while isinstance(value, list) and len(shape) < 8:
        shape.append(len(value))
        value = value[0] if value else None
    return tuple(shape)


def _elements(shape: Shape) -> int | None:
    known = [size for size in shape if size is not None]
    return math.prod(known) if len(known) == len(shape) else None


def _reduced(shape: Shape, axis: Any, keep: bool) -> Shape:
    axes = range(len(shape)) if axis is None else [axis] if isinstance(axis, int) else list(axis)
    gone = {int(item) % max(1, len(shape)) for item in axes}
    return tuple(1 if i in gone else size for i, size in enumerate(shape) if keep or i not in gone)


def _option(options: dict[str, Any], args: list[Any], position: int, *names: str) -> Any:
    for name in names:
        if options.get(name) is not None:
            return options[name]
    return args[position] if len(args) > position else None


def _get_item(shape: Shape, options: dict[str, Any], args: list[Any], tensors: list[Known]) -> Shapes:
    key = _option(options, args, 1, "slice_spec", "key")
    keys = list(key) if isinstance(key, list | tuple) else [key]
    if ... in keys:
        at = keys.index(...)
        real = sum(1 for item in keys if item is not None and item is not ...)
        keys[at : at + 1] = [slice(None)] * (len(shape) - real)
    out: list[int | None] = []
    rest = list(shape)
    for item in keys:
        if item is None:
            out.append(1)
            continue
        size = rest.pop(0)
        if isinstance(item, slice):
            out.append(_sliced(size, item))
        elif not isinstance(item, int):
            return [None]
    return [(*out, *rest)]


def _sliced(size: int | None, part: slice) -> int | None:
    if any(isinstance(edge, Known) for edge in (part.start, part.stop, part.step)):
        return None
    if size is not None:
        return len(range(*part.indices(size)))
    # How much of an axis of unknown length a slice leaves is as unknown, counted from its end too: it may be shorter.
    return None


def _transpose(shape: Shape, options: dict[str, Any], args: list[Any], tensors: list[Known]) -> Shapes:
    axes = _option(options, args, 1, "axes", "perm", "dims")
    return [tuple(shape[int(axis)] for axis in axes) if axes is not None else tuple(reversed(shape))]


def _reshape(shape: Shape, options: dict[str, Any], args: list[Any], tensors: list[Known]) -> Shapes:
    target = _option(options, args, 1, "newshape", "shape")
    sizes = [size if isinstance(size, int) else None for size in target]
    return [tuple(None if size == -1 else size for size in fill_unknown(sizes, shape))]


def _expand(shape: Shape, options: dict[str, Any], args: list[Any], tensors: list[Known]) -> Shapes:
    axis = _option(options, args, 1, "axis", "dim")
    out = list(shape)
    for item in sorted([axis] if isinstance(axis, int) else axis):
        out.insert(item if item >= 0 else len(out) + 1 + item, 1)
    return [tuple(out)]


def _squeeze(shape: Shape, options: dict[str, Any], args: list[Any], tensors: list[Known]) -> Shapes:
    axis = _option(options, args, 1, "axis", "squeeze_dims")
    if axis is None:
        return [tuple(size for size in shape if size != 1)]
    gone = {item % len(shape) for item in ([axis] if isinstance(axis, int) else axis)}
    return [tuple(size for i, size in enumerate(shape) if i not in gone)]


def _matmul(shape: Shape, options: dict[str, Any], args: list[Any], tensors: list[Known]) -> Shapes:
    other = tensors[1].shape
    if other is None:
        return [None]
    left = (*shape[:-2], shape[-1], shape[-2]) if options.get("transpose_a") else shape
    right = (*other[:-2], other[-1], other[-2]) if options.get("transpose_b") else other
    lead = broadcast([left[:-2], right[:-2]])
    return [None if lead is None else (*lead, left[-2], right[-1])]


def _stack(shape: Shape, options: dict[str, Any], args: list[Any], tensors: list[Known]) -> Shapes:
    axis = _option(options, args, 1, "axis") or 0
    out = list(shape)
    out.insert(axis if axis >= 0 else len(out) + 1 + axis, len(tensors))
    return [tuple(out)]


def _split(shape: Shape, options: dict[str, Any], args: list[Any], tensors: list[Known]) -> Shapes:
    parts = _option(options, args, 1, "indices_or_sections", "num_or_size_splits", "num_split")
    axis = int(options.get("axis", 0)) % len(shape)
    size = shape[axis]
    if isinstance(parts, int):
        return [(*shape[:axis], None if size is None else size // parts, *shape[axis + 1 :])] * parts
    if "num_or_size_splits" in options:
        return [(*shape[:axis], part, *shape[axis + 1 :]) for part in parts]
    edges = [0, *parts, size]
    sizes = [None if b is None else b - a for a, b in itertools.pairwise(edges)]
    return [(*shape[:axis], part, *shape[axis + 1 :]) for part in sizes]


def _pad(shape: Shape, options: dict[str, Any], args: list[Any], tensors: list[Known]) -> Shapes:
    widths = _option(options, args, 1, "pad_width", "paddings")
    if isinstance(widths, int):
        widths = [[widths, widths]]
    elif widths and all(isinstance(width, int) for width in widths):
        widths = [widths]
    if len(widths) == 1:
        widths = list(widths) * len(shape)
    return [tuple(None if s is None else s + sum(w) for s, w in zip(shape, widths, strict=True))]


def _tile(shape: Shape, options: dict[str, Any], args: list[Any], tensors: list[Known]) -> Shapes:
    given = _option(options, args, 1, "repeats", "multiples")
    times = [given] if isinstance(given, int) else list(given)
    rank = max(len(shape), len(times))
    sizes, times = (1,) * (rank - len(shape)) + shape, [1] * (rank - len(times)) + times
    return [tuple(None if s is None or not isinstance(t, int) else s * t for s, t in zip(sizes, times, strict=True))]


def _one_hot(shape: Shape, options: dict[str, Any], args: list[Any], tensors: list[Known]) -> Shapes:
    return [(*shape, int(_option(options, args, 1, "num_classes", "depth")))]


def _swap(shape: Shape, options: dict[str, Any], args: list[Any], tensors: list[Known]) -> Shapes:
    one, two = (int(_option(options, args, i, name)) for i, name in ((1, "axis1"), (2, "axis2")))
    out = list(shape)
    out[one], out[two] = out[two], out[one]
    return [tuple(out)]


def _broadcast_to(shape: Shape, options: dict[str, Any], args: list[Any], tensors: list[Known]) -> Shapes:
    target: Sequence[Any] = _option(options, args, 1, "shape")
    return [tuple(size if isinstance(size, int) else None for size in target)]


def _shape_of(shape: Shape, options: dict[str, Any], args: list[Any], tensors: list[Known]) -> Shapes:
    return [(len(shape),)]


def _resize(shape: Shape, options: dict[str, Any], args: list[Any], tensors: list[Known]) -> Shapes:
    height, width = _option(options, args, 1, "size")
    return [(*shape[:-3], int(height), int(width), shape[-1])]


def _unstack(shape: Shape, options: dict[str, Any], args: list[Any], tensors: list[Known]) -> Shapes:
    axis = int(_option(options, args, 2, "axis") or 0) % len(shape)
    count = shape[axis] or _option(options, args, 1, "num")
    return [(*shape[:axis], *shape[axis + 1 :])] * int(count)


def _picked(options: dict[str, Any], args: list[Any]) -> Shape | None:
    indices = _option(options, args, 1, "indices")
    return indices.shape if isinstance(indices, Known) else _constant(indices)


def _take(shape: Shape, options: dict[str, Any], args: list[Any], tensors: list[Known]) -> Shapes:
    """Keras': from the flattened input where there is no axis."""
    picked, axis = _picked(options, args), options.get("axis")
    if axis is None or picked is None:
        return [picked]
    axis %= len(shape)
    return [(*shape[:axis], *picked, *shape[axis + 1 :])]


def _gather(shape: Shape, options: dict[str, Any], args: list[Any], tensors: list[Known]) -> Shapes:
    """TensorFlow's: along the axis after those that input and indices share, where none is given."""
    picked = _picked(options, args)
    if picked is None:
        return [None]
    shared = int(options.get("batch_dims") or 0)
    shared += len(picked) if shared < 0 else 0
    axis = int(shared if options.get("axis") is None else options["axis"]) % len(shape)
    return [(*shape[:axis], *picked[shared:], *shape[axis + 1 :])]


_RULES: dict[str, Callable[[Shape, dict[str, Any], list[Any], list[Known]], Shapes]] = {
    "getitem": _get_item,
    "transpose": _transpose,
    "reshape": _reshape,
    "expanddims": _expand,
    "squeeze": _squeeze,
    "matmul": _matmul,
    "stack": _stack,
    "pack": _stack,
    "split": _split,
    "unstack": _unstack,
    "pad": _pad,
    "tile": _tile,
    "onehot": _one_hot,
    "swapaxes": _swap,
    "broadcastto": _broadcast_to,
    "shape": _shape_of,
    "resize": _resize,
    "take": _take,
    "gather": _gather,
}
