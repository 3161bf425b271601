"""Dynamic dimensions made numbers: from the inputs, through strides and operators that pass them on, to every layer."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from stethoscope.architecture import windows
from stethoscope.architecture.activations import plain_type
from stethoscope.architecture.layer_kinds import Kind, kind_of
from stethoscope.architecture.open_sizes import USUAL, OpenSizes, Sizes, is_image, open_sizes, positions, sizes_of_file
from stethoscope.types import Architecture, Layer, Shape


class Resolver:
    """Gives every dimension of every layer a number.

    Args:
        architecture: the model.
        sizes: what the user says; where it is open and not said, a default is taken and `assumptions` says so.
    """

    def __init__(self, architecture: Architecture, sizes: Sizes) -> None:
        self.assumptions: list[str] = []
        self._is_image = any(is_image(spec) for spec in architecture.inputs)
        file = sizes_of_file(architecture.layers)
        told = sizes.or_else(file).or_else(USUAL)
        assert told.sequence_length is not None and told.image_size is not None
        self._sequence, self._image = told.sequence_length, told.image_size
        self._note(architecture, sizes, open_sizes(architecture.inputs, given=sizes, of_file=file))
        self._known: dict[str, tuple[int, ...]] = {}

    def _note(self, architecture: Architecture, sizes: Sizes, found: OpenSizes) -> None:
        """Says what was assumed, and what was given for nothing."""
        images = {spec.name for spec in architecture.inputs if is_image(spec)}
        sequence = next((item for item in found.dimensions if item.input not in images), None)
        image = next((item for item in found.dimensions if item.input in images), None)
        room = positions(architecture.layers)
        if sizes.sequence_length is not None:
            if sequence is None:
                self.assumptions.append(f"Sequence length {self._sequence} is not used: no input leaves one open.")
            if room is not None and self._sequence > room:
                self.assumptions.append(
                    f"Sequence length {self._sequence} is more than the {room} positions the model has an embedding for."
                )
        elif sequence is not None:
            whence = "of the model's positions" if sequence.source == "file" else "assumed"
            self.assumptions.append(
                f"Sequence length {self._sequence} {whence}: input {sequence.input!r} leaves it open."
            )
        height, width = self._image
        if sizes.image_size is not None and image is None:
            self.assumptions.append(f"Image size {height} × {width} is not used: no input leaves one open.")
        elif sizes.image_size is None and image is not None:
            whence = "of the model's resizing" if image.source == "file" else "assumed"
            self.assumptions.append(f"Image size {height} × {width} {whence}: input {image.input!r} leaves it open.")

    def resolve(self, layer: Layer) -> tuple[int, ...] | None:
        """Returns the layer's output shape without its first (batch) dimension, None when its rank is not known."""
        if layer.output_shape is None:
            return None
        shape = layer.output_shape
        sources = [self._known[path] for path in layer.inputs if path in self._known]
        sizes = tuple(self._size(layer, shape, axis, sources) for axis in range(1, len(shape)))
        self._known[layer.path] = sizes
        return sizes

    def _size(self, layer: Layer, shape: Shape, axis: int, sources: Iterable[tuple[int, ...]]) -> int:
        size = shape[axis]
        if size is not None:
            return size
        for source in sources:
            if len(source) == len(shape) - 1:
                return _after(layer, source[axis - 1], axis)
        if len(shape) >= 4 and self._is_image:
            return self._image[0] if axis <= len(shape) - 3 or axis == 1 else self._image[1]
        return self._sequence


def _after(layer: Layer, size: int, axis: int) -> int:
    """A dimension of unknown size after a layer with strides, pooling or up-sampling; `axis` counts the batch as 0."""
    config = layer.config
    spatial = axis - (2 if config.get("data_format") in ("channels_first", "NCHW") else 1)
    kernel = _number(config, ("pool_size", "kernel_size", "kernel_shape"), spatial, 1)
    stride = _number(config, ("strides",), spatial, kernel if "pool_size" in config else 1)
    grown = size * _number(config, ("size",), spatial, 1)
    if "transpose" in layer.type.lower() and kind_of(layer.type, layer.parameters) is Kind.CONVOLUTION:
        return grown * stride
    padding = str(config.get("padding", "same")).lower()
    left = grown - kernel + 1 if padding == "valid" else grown
    return max(1, math.ceil(left / stride))


def _number(config: Mapping[str, Any], keys: Iterable[str], index: int, default: int) -> int:
    for key in keys:
        value = config.get(key)
        if isinstance(value, int) and value > 0 and not isinstance(value, bool):
            return value
        if isinstance(value, list | tuple) and 0 <= index < len(value) and isinstance(value[index], int):
            return max(1, int(value[index]))
    return default


Size = tuple[int, ...]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


INPUTS = frozenset({"inputlayer", "input", "placeholder", "placeholderv2", "placeholderwithdefault"})
_SAME_ELEMENTS = _words(
    "reshape flatten squeeze unsqueeze expanddims transpose permute identity cast batchflatten spacetodepth depthtospace "
    "spacetobatchnd batchtospacend reverse reversev2 reversesequence roll tolist swapaxes moveaxis view"
)
_ELEMENTWISE = _words(
    "where select selectv2 logicaland logicalor logicalnot logicalxor greaterequal lessequal greater less equal notequal greaterorequal "
    "lessorequal abs sign floor ceil round rint sin cos tan not and or xor fakequantwithminmaxvars fakequantwithminmaxvarsperchannel "
    "quantize dequantize quantizelinear dequantizelinear addv2 squareddifference reciprocal stopgradient rsqrt maximum minimum xdivy "
    "mulnonan erfc biasadd realdiv truedivide floordiv floormod mod isnan isinf oneslike zeroslike cumsum cumprod negative neg subtract log1p "
    "expm1 power masking identityn rescaling"
)
_LOOKUPS = _words("gather gatherv2 resourcegather embeddinglookup embedding take")
_PRODUCTS = _words("matmul batchmatmul batchmatmulv2 batchmatmulv3 fusedmatmul matmulinteger qlinearmatmul")
_JOINS = _words("concat concatv2 concatenation concatenate")
_DENSE = _words("fullyconnected dense")
_LEADING_KEPT = _words(
    "mean sum max min prod reducemean reducesum reducemax reducemin reduceprod reducel2 argmax argmin globalaveragepool "
    "globalmaxpool slice stridedslice pad padv2 mirrorpad resize resizebilinear resizenearestneighbor split splitv pack stack "
    "all any cumsum topk topkv2 onehot unpack unstack getitem upsample tile einsum "
    "unidirectionalsequencelstm unidirectionalsequencernn depthwiseconv2dnative conv2dbackpropinput transposeconv"
)
"""Operators that change sizes by arguments the description does not hold, but leave an open first dimension alone."""


def filled(layer: Layer, declared: Shape, stated: Sequence[Shape | None], given: Sequence[Size | None]) -> Size | None:
    """The output's sizes where they follow from the operands', else None.

    Args:
        layer: with its type and settings.
        declared: its output shape, with at least one open dimension.
        stated: the operands' shapes as described.
        given: the same, resolved.
    """
    kind = plain_type(layer.type)
    first = next((size for shape, size in zip(stated, given, strict=True) if shape is None or None in shape), None)
    first = first if first is not None else next((size for size in given if size is not None), None)
    if first is None:
        return None
    if kind in _SAME_ELEMENTS:
        return _with_elements(
            declared, math.prod(first), first, _rest_axis(layer, len(declared)), stated[given.index(first)]
        )
    if kind in INPUTS:
        return _by_axis(declared, first)
    if kind in _JOINS:
        parts = [size for size in given if size is not None and len(size) == len(declared)]
        same = _by_axis(declared, first)
        total = sum(math.prod(size) for size in parts)
        return same if same is not None and math.prod(same) == total else _with_elements(declared, total, first)
    if kind in _LOOKUPS and len(given) > 1:
        indices = given[0] if kind == "embeddinglookup" else given[1]
        if indices is not None and len(declared) == len(indices) + 1:
            return _by_axis(declared, (*indices, declared[-1] or 0))
        return _leading(declared, first)
    if kind == "gemm":
        return _general_product(layer, declared, given)
    if kind in _PRODUCTS or kind in _DENSE:
        return _product(declared, given, kind in _DENSE)
    family = kind_of(layer.type, layer.parameters)
    if family in (Kind.CONVOLUTION, Kind.POOLING, Kind.AVERAGE):
        return _window(layer, declared, first)
    if family in (Kind.ACTIVATION, Kind.MERGE, Kind.PRODUCT, Kind.NORMALIZATION, Kind.DROPOUT) or kind in _ELEMENTWISE:
        return _broadcast(declared, given)
    return _leading(declared, first) if kind in _LEADING_KEPT else None


def _by_axis(declared: Shape, size: Size) -> Size | None:
    if len(declared) != len(size):
        return None
    return tuple(new if old is None else old for old, new in zip(declared, size, strict=True))


def _leading(declared: Shape, size: Size) -> Size | None:
    """Fills an open first dimension alone."""
    if not declared or None in declared[1:] or not size:
        return None
    return (size[0], *(item or 0 for item in declared[1:]))


def _rest_axis(layer: Layer, rank: int) -> int | None:
    """The axis of a reshape's output that takes whatever is left (-1), where its settings say so."""
    target = layer.config.get("newshape", layer.config.get("target_shape"))
    if not isinstance(target, list | tuple) or list(target).count(-1) != 1:
        return None
    return list(target).index(-1) + rank - len(target)  # a Keras layer's target is without the batch


def _with_elements(
    declared: Shape, elements: int, source: Size, rest: int | None = None, stated: Shape | None = None
) -> Size | None:
    """Fills open dimensions so that the number of elements is kept.

    Args:
        declared: with at least one open dimension.
        elements: the number of them.
        source: the operand's sizes, which the open dimensions are, but for one that takes what is left.
        rest: that one. With it the others are the operand's at the same place; without, it is the last, and they are in order.
        stated: the operand's shape as described.
    """
    known = math.prod(size for size in declared if size is not None)
    holes = [axis for axis, size in enumerate(declared) if size is None]
    if known == 0 or elements % known:
        return None
    told = rest is not None and rest in holes
    left = rest if rest is not None and told else holes[-1]
    missing, values = elements // known, list(declared)
    # A batch as large as a fixed size is told from it by the operand's description, where that has the size open.
    remaining = [size for at, size in enumerate(source) if stated is not None and stated[at : at + 1] == (None,)]
    if len(remaining) < len(holes) - 1:
        remaining = [size for size in source if source.count(size) > declared.count(size)]
    for axis in holes:
        if axis == left:
            continue
        fitting = source[axis : axis + 1] if told else [size for size in remaining if size and missing % size == 0]
        if not fitting or not fitting[0] or missing % fitting[0]:
            return None
        if not told:
            remaining.remove(fitting[0])
        values[axis], missing = fitting[0], missing // fitting[0]
    values[left] = missing
    return tuple(size or 0 for size in values)


def _broadcast(declared: Shape, given: Sequence[Size | None]) -> Size | None:
    found: list[int] = []
    for axis, size in enumerate(declared):
        back = axis - len(declared)
        sizes = [item[back] for item in given if item is not None and len(item) >= -back]
        if size is None and not sizes:
            return None
        found.append(max(sizes) if size is None else size)
    return tuple(found)


def _product(declared: Shape, given: Sequence[Size | None], is_dense: bool) -> Size | None:
    left, right = given[0], given[1] if len(given) > 1 else None
    if left is None:
        return None
    if is_dense and len(declared) == 2 and declared[1]:
        # A fully connected operator flattens everything before the features.
        features = right[-1] if right is not None and len(right) == 2 else left[-1]
        return (math.prod(left) // features, declared[1]) if features and math.prod(left) % features == 0 else None
    if len(left) != len(declared):
        left = (*(1,) * (len(declared) - len(left)), *left) if len(left) < len(declared) else left
    if len(left) != len(declared):
        return None
    values = [new if old is None else old for old, new in zip(declared, left, strict=True)]
    if declared[-1] is None:
        if right is None:
            return None
        values[-1] = right[-1] if right[-2:-1] == (left[-1],) else right[-2] if len(right) > 1 else 1
    return tuple(values)


def _general_product(layer: Layer, declared: Shape, given: Sequence[Size | None]) -> Size | None:
    """A · B of matrices, each as it lies or transposed. Source: ONNX's operator Gemm, whose transA and transB are 0 by default."""
    left, right = (*given, None, None)[:2]
    if left is None or len(left) != 2 or len(declared) != 2:
        return None
    rows, inner = reversed(left) if layer.config.get("transA") else left
    if right is None:
        return None if declared[1] is None else (rows, declared[1])
    features, columns = reversed(right) if layer.config.get("transB") else right
    return (rows, columns) if features == inner and declared[1] in (None, columns) else None


def _window(layer: Layer, declared: Shape, source: Size) -> Size | None:
    found = windows.window_of(layer)
    if found is None or len(source) != len(declared) or len(found.kernel) != len(declared) - 2:
        return _leading(declared, source)
    first = 2 if found.channels_first else 1
    sizes = windows.after(found, source[first : first + len(found.kernel)])
    if sizes is None:
        return _leading(declared, source)
    full = (source[0], 0, *sizes) if found.channels_first else (source[0], *sizes, 0)
    channel = 1 if found.channels_first else -1
    return None if declared[channel] is None else _by_axis(declared, full)
