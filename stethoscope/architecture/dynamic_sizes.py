"""Dynamic dimensions made numbers: from the sequence length or image size at the inputs, through strides, to every layer."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stethoscope.architecture.layer_kinds import Kind, kind_of
from stethoscope.errors import BadSetting
from stethoscope.types import Architecture, Layer, Shape

DEFAULT_SEQUENCE_LENGTH = 128
DEFAULT_IMAGE_SIZE = 224
_LARGEST = 1 << 20


@dataclass(frozen=True)
class Sizes:
    """What a model file may leave open."""

    sequence_length: int | None = None
    image_size: tuple[int, int] | None = None
    """(height, width) in pixels."""

    def __post_init__(self) -> None:
        for name, value in (
            ("Sequence length", self.sequence_length),
            *(("Image size", n) for n in self.image_size or ()),
        ):
            if value is not None and not 1 <= value <= _LARGEST:
                raise BadSetting(f"{name} {value}: expected 1 to {_LARGEST:,}. Correct it.")


class Resolver:
    """Gives every dimension of every layer a number.

    Args:
        architecture: the model.
        sizes: what the user says; where it is open and not said, a default is taken and `assumptions` says so.
    """

    def __init__(self, architecture: Architecture, sizes: Sizes) -> None:
        self.assumptions: list[str] = []
        self._is_image = any(spec.shape is not None and len(spec.shape) >= 4 for spec in architecture.inputs)
        open_axes = [
            (spec.name, axis, len(spec.shape))
            for spec in architecture.inputs
            if spec.shape is not None
            for axis, size in enumerate(spec.shape)
            if axis and size is None
        ]
        self._sequence = self._sequence_length(architecture, sizes, [a for a in open_axes if a[2] < 4])
        self._image = self._image_size(sizes, [a for a in open_axes if a[2] >= 4])
        self._known: dict[str, tuple[int, ...]] = {}

    def _sequence_length(self, architecture: Architecture, sizes: Sizes, axes: Sequence[tuple[str, int, int]]) -> int:
        room = positions(architecture.layers)
        if sizes.sequence_length is not None:
            if not axes:
                self.assumptions.append(
                    f"Sequence length {sizes.sequence_length} is not used: no input leaves one open."
                )
            if room is not None and sizes.sequence_length > room:
                self.assumptions.append(
                    f"Sequence length {sizes.sequence_length} is more than the {room} positions the model has an embedding for."
                )
            return sizes.sequence_length
        length = min(DEFAULT_SEQUENCE_LENGTH, room or DEFAULT_SEQUENCE_LENGTH)
        if axes:
            self.assumptions.append(f"Sequence length {length} assumed: input {axes[0][0]!r} leaves it open.")
        return length

    def _image_size(self, sizes: Sizes, axes: Sequence[tuple[str, int, int]]) -> tuple[int, int]:
        if sizes.image_size is not None:
            if not axes:
                height, width = sizes.image_size
                self.assumptions.append(f"Image size {height} × {width} is not used: no input leaves one open.")
            return sizes.image_size
        if axes:
            size = DEFAULT_IMAGE_SIZE
            self.assumptions.append(f"Image size {size} × {size} assumed: input {axes[0][0]!r} leaves it open.")
        return DEFAULT_IMAGE_SIZE, DEFAULT_IMAGE_SIZE

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


def positions(layers: Sequence[Layer]) -> int | None:
    """The longest sequence that position embeddings allow; None without any."""
    found = [
        int(layer.config[key])
        for layer in layers
        for key in ("input_dim", "sequence_length")
        if "position" in f"{layer.path} {layer.type}".lower()
        and kind_of(layer.type, layer.parameters) is Kind.EMBEDDING
        and isinstance(layer.config.get(key), int)
    ]
    return min(found, default=None)


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
