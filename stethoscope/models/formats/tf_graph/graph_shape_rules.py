"""One rule for each common operator: (attributes, input shapes, known input values) → output shapes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from stethoscope.models.formats.tf_graph import graph_values
from stethoscope.models.formats.tf_graph.graph_values import Attributes, Shapes, Value
from stethoscope.models.formats.tf_graph.object_graph import static_shape
from stethoscope.types import Shape

Rule = Callable[[Attributes, Shapes, list[Value]], Shapes]


def broadcast(left: Shape | None, right: Shape | None) -> Shape | None:
    """Numpy's broadcasting with unknown dimensions."""
    if left is None or right is None:
        return None
    rank = max(len(left), len(right))
    a, b = (1,) * (rank - len(left)) + left, (1,) * (rank - len(right)) + right
    return tuple(y if x == 1 else x if y in (1, x) else y if x is None else x for x, y in zip(a, b, strict=True))


def _same(_: Attributes, inputs: Shapes, __: list[Value]) -> Shapes:
    return [inputs[0]]


def _elementwise(_: Attributes, inputs: Shapes, __: list[Value]) -> Shapes:
    found = inputs[0]
    for shape in inputs[1:]:
        found = broadcast(found, shape)
    return [found]


def _constant(attributes: Attributes, _: Shapes, __: list[Value]) -> Shapes:
    return [static_shape(attributes["value"].tensor.tensor_shape)] if "value" in attributes else []


def _placeholder(attributes: Attributes, _: Shapes, __: list[Value]) -> Shapes:
    return [static_shape(attributes["shape"].shape)] if "shape" in attributes else []


def _flag(attributes: Attributes, name: str) -> bool:
    return name in attributes and bool(attributes[name].b)


def _integer(attributes: Attributes, name: str, default: int) -> int:
    return int(attributes[name].i) if name in attributes else default


def _matmul(attributes: Attributes, inputs: Shapes, _: list[Value]) -> Shapes:
    left, right = inputs[0], inputs[1]
    if left is None or right is None:
        return [None]
    first = "transpose_a" if "transpose_a" in attributes else "adj_x"
    second = "transpose_b" if "transpose_b" in attributes else "adj_y"
    rows = left[-1] if _flag(attributes, first) else left[-2]
    columns = right[-2] if _flag(attributes, second) else right[-1]
    batch = broadcast(left[:-2], right[:-2])
    return [None if batch is None else (*batch, rows, columns)]


def _reduce(attributes: Attributes, inputs: Shapes, values: list[Value]) -> Shapes:
    shape, axes = inputs[0], values[1]
    if shape is None or axes is None or None in axes:
        return [None]
    gone = {axis % len(shape) for axis in axes if axis is not None} if shape else set()
    if _flag(attributes, "keep_dims") or _flag(attributes, "keepdims"):
        return [tuple(1 if axis in gone else size for axis, size in enumerate(shape))]
    return [tuple(size for axis, size in enumerate(shape) if axis not in gone)]


def _arg(_: Attributes, inputs: Shapes, values: list[Value]) -> Shapes:
    shape, axis = inputs[0], values[1]
    if shape is None or axis is None or axis[0] is None:
        return [None]
    gone = axis[0] % len(shape)
    return [tuple(size for index, size in enumerate(shape) if index != gone)]


def _reshape(_: Attributes, inputs: Shapes, values: list[Value]) -> Shapes:
    wanted = values[1]
    if wanted is None:
        length = inputs[1]
        return [(None,) * length[0] if length and length[0] is not None and length[0] <= 32 else None]
    sizes = [None if size is None or size < 0 else size for size in wanted]
    shape = inputs[0]
    if sizes.count(None) == 1 and -1 in wanted and shape is not None and None not in shape:
        total, rest = 1, 1
        for size in shape:
            total *= size or 0
        for size in sizes:
            rest *= 1 if size is None else size
        if rest and total % rest == 0:
            sizes[sizes.index(None)] = total // rest
    return [tuple(sizes)]


def _expand(_: Attributes, inputs: Shapes, values: list[Value]) -> Shapes:
    shape, axis = inputs[0], values[1]
    if shape is None or axis is None or axis[0] is None:
        return [None]
    at = axis[0] if axis[0] >= 0 else axis[0] + len(shape) + 1
    return [(*shape[:at], 1, *shape[at:])]


def _squeeze(attributes: Attributes, inputs: Shapes, _: list[Value]) -> Shapes:
    shape = inputs[0]
    if shape is None:
        return [None]
    axes = (
        [int(axis) % len(shape) for axis in attributes["squeeze_dims"].list.i]
        if "squeeze_dims" in attributes and shape
        else []
    )
    if not axes and None in shape:
        return [None]
    return [tuple(size for axis, size in enumerate(shape) if (axis not in axes if axes else size != 1))]


def _transpose(_: Attributes, inputs: Shapes, values: list[Value]) -> Shapes:
    shape, order = inputs[0], values[1]
    if shape is None:
        return [None]
    if order is None or len(order) != len(shape) or None in order:
        return [(None,) * len(shape)]
    return [tuple(shape[axis] for axis in order if axis is not None)]


def _concat(_: Attributes, inputs: Shapes, values: list[Value]) -> Shapes:
    axis, parts = values[-1], inputs[:-1]
    if axis is None or axis[0] is None or any(part is None for part in parts):
        return [None]
    first = parts[0] or ()
    at = axis[0] % len(first)
    sizes = [part[at] for part in parts if part is not None]
    total = None if None in sizes else sum(size for size in sizes if size is not None)
    return [(*first[:at], total, *first[at + 1 :])]


def _pack(attributes: Attributes, inputs: Shapes, _: list[Value]) -> Shapes:
    shape = inputs[0]
    if shape is None:
        return [None]
    axis = _integer(attributes, "axis", 0) % (len(shape) + 1)
    return [(*shape[:axis], len(inputs), *shape[axis:])]


def _unpack(attributes: Attributes, inputs: Shapes, _: list[Value]) -> Shapes:
    shape = inputs[0]
    if shape is None:
        return []
    axis = _integer(attributes, "axis", 0) % len(shape)
    return [(*shape[:axis], *shape[axis + 1 :])] * min(_integer(attributes, "num", 1), 1024)


def _split(attributes: Attributes, inputs: Shapes, values: list[Value]) -> Shapes:
    shape, axis, count = inputs[1], values[0], _integer(attributes, "num_split", 1)
    if shape is None or axis is None or axis[0] is None:
        return []
    at = axis[0] % len(shape)
    size = shape[at]
    return [(*shape[:at], None if size is None else size // count, *shape[at + 1 :])] * min(count, 1024)


def _pad(_: Attributes, inputs: Shapes, values: list[Value]) -> Shapes:
    shape, pads = inputs[0], values[1]
    if shape is None:
        return [None]
    if pads is None or len(pads) != 2 * len(shape):
        return [(None,) * len(shape)]
    found: list[int | None] = []
    for axis, size in enumerate(shape):
        before, after = pads[2 * axis], pads[2 * axis + 1]
        found.append(None if size is None or before is None or after is None else size + before + after)
    return [tuple(found)]


def _gather(_: Attributes, inputs: Shapes, values: list[Value]) -> Shapes:
    data, indices = inputs[0], inputs[1]
    axis = values[2] if len(values) > 2 else (0,)
    if data is None or indices is None or axis is None or axis[0] is None:
        return [None]
    at = axis[0] % len(data)
    return [(*data[:at], *indices, *data[at + 1 :])]


def _shape(_: Attributes, inputs: Shapes, __: list[Value]) -> Shapes:
    return [(None if inputs[0] is None else len(inputs[0]),)]


def _scalar(_: Attributes, __: Shapes, ___: list[Value]) -> Shapes:
    return [()]


def _filled(_: Attributes, __: Shapes, values: list[Value]) -> Shapes:
    return [None if values[0] is None else tuple(None if size is None or size < 0 else size for size in values[0])]


def _tile(_: Attributes, inputs: Shapes, values: list[Value]) -> Shapes:
    shape, times = inputs[0], values[1]
    if shape is None or times is None or len(times) != len(shape):
        return [None if shape is None else (None,) * len(shape)]
    return [
        tuple(None if size is None or count is None else size * count for size, count in zip(shape, times, strict=True))
    ]


def _resize(_: Attributes, inputs: Shapes, values: list[Value]) -> Shapes:
    shape, size = inputs[0], values[1] or (None, None)
    return [None if shape is None else (shape[0], size[0], size[1], shape[3])]


def _deconv(_: Attributes, __: Shapes, values: list[Value]) -> Shapes:
    return _filled({}, [], values)


def _norm(_: Attributes, inputs: Shapes, __: list[Value]) -> Shapes:
    channels: Shape | None = inputs[1]
    return [inputs[0], channels, channels, channels, channels]


def _strided(attributes: Attributes, inputs: Shapes, values: list[Value]) -> Shapes:
    shape, begin, end, step = inputs[0], values[1], values[2], values[3]
    masks = {
        name: _integer(attributes, f"{name}_mask", 0)
        for name in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")
    }
    if shape is None or begin is None or end is None or step is None:
        return [None]
    found: list[int | None] = []
    axis = 0
    for index in range(len(begin)):
        bit = 1 << index
        if masks["ellipsis"] & bit:
            later = sum(not masks["new_axis"] >> other & 1 for other in range(index + 1, len(begin)))
            found.extend(shape[axis : len(shape) - later])
            axis = len(shape) - later
        elif masks["new_axis"] & bit:
            found.append(1)
        else:
            size, low, high, stride = shape[axis], begin[index], end[index], step[index]
            axis += 1
            if masks["shrink_axis"] & bit:
                continue
            low = None if masks["begin"] & bit else low
            high = None if masks["end"] & bit else high
            open_ended = (low is None and not masks["begin"] & bit) or (high is None and not masks["end"] & bit)
            known = size is not None and stride and not open_ended
            found.append(len(range(*slice(low, high, stride).indices(size or 0))) if known else None)
    return [(*found, *shape[axis:])]


def _looked_up(_: Attributes, inputs: Shapes, __: list[Value]) -> Shapes:
    return [inputs[1]]


def _each(_: Attributes, inputs: Shapes, __: list[Value]) -> Shapes:
    return list(inputs)


def _loop(attributes: Attributes, _: Shapes, __: list[Value]) -> Shapes:
    stated = attributes["output_shapes"].list.shape if "output_shapes" in attributes else ()
    return [static_shape(shape) for shape in stated]


_SAME = """Identity Relu Relu6 Elu Selu LeakyRelu Sigmoid Tanh Softmax LogSoftmax Softplus Softsign Exp Log Log1p Sqrt Rsqrt Square Neg
Abs Floor Ceil Round Rint Sign Erf Erfc Sin Cos Tan Asin Acos Atan Sinh Cosh Reciprocal Inv BiasAdd Cast StopGradient LogicalNot
ZerosLike OnesLike LRN Reverse ReverseV2 Cumsum Cumprod CheckNumerics PreventGradient Snapshot ReadVariableOp IsNan IsInf IsFinite
FakeQuantWithMinMaxVars FakeQuantWithMinMaxArgs FakeQuantWithMinMaxVarsPerChannel QuantizeAndDequantizeV2 QuantizeAndDequantizeV3
Expm1 Digamma Lgamma Dequantize Enter Exit GuaranteeConst Roll MatrixInverse BiasAddV1 MatrixSetDiag MatrixBandPart StringLower StringUpper
StaticRegexReplace StringStrip StringLength StringToHashBucketFast AsString StringToNumber"""
_ELEMENTWISE = """Add AddV2 AddN Sub Mul Div RealDiv FloorDiv TruncateDiv DivNoNan MulNoNan Maximum Minimum Pow SquaredDifference Mod
FloorMod TruncateMod Less LessEqual Greater GreaterEqual Equal NotEqual LogicalAnd LogicalOr SelectV2 Atan2 Xlogy Zeta BitwiseAnd"""
_RULES: dict[str, Rule] = {
    "Const": _constant,
    **dict.fromkeys(("Placeholder", "PlaceholderWithDefault", "VariableV2"), _placeholder),
    **dict.fromkeys(("MatMul", "BatchMatMul", "BatchMatMulV2"), _matmul),
    **dict.fromkeys(("Conv2D", "Conv3D"), graph_values.conv),
    "DepthwiseConv2dNative": graph_values.depthwise,
    **dict.fromkeys(("MaxPool", "AvgPool", "MaxPool3D", "AvgPool3D"), graph_values.pool),
    **dict.fromkeys(("Mean", "Sum", "Max", "Min", "Prod", "All", "Any"), _reduce),
    **dict.fromkeys(("ArgMax", "ArgMin"), _arg),
    "Reshape": _reshape,
    "ExpandDims": _expand,
    "Squeeze": _squeeze,
    "Transpose": _transpose,
    "ConcatV2": _concat,
    "Pack": _pack,
    "Unpack": _unpack,
    "Split": _split,
    **dict.fromkeys(("Pad", "PadV2", "MirrorPad"), _pad),
    **dict.fromkeys(("GatherV2", "Gather"), _gather),
    "Shape": _shape,
    **dict.fromkeys(("Rank", "Size"), _scalar),
    **dict.fromkeys(("Fill", "RandomUniform", "RandomStandardNormal"), _filled),
    "Tile": _tile,
    "BroadcastTo": lambda a, i, v: _filled(a, i, v[1:]),
    **dict.fromkeys(("ResizeBilinear", "ResizeNearestNeighbor", "ResizeBicubic"), _resize),
    "Conv2DBackpropInput": _deconv,
    **dict.fromkeys(("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"), _norm),
    "StridedSlice": _strided,
    "IdentityN": _each,
    "LookupTableFindV2": _looked_up,
    **dict.fromkeys(("While", "StatelessWhile", "If", "StatelessIf"), _loop),
}
RULES: Mapping[str, Rule] = (
    dict.fromkeys(_SAME.split(), _same) | dict.fromkeys(_ELEMENTWISE.split(), _elementwise) | _RULES
)
