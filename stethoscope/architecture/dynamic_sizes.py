"""Dynamic dimensions made numbers: from the sequence length or image size at the inputs, through strides, to every layer."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from stethoscope.architecture.layer_kinds import Kind, kind_of
from stethoscope.architecture.open_sizes import OpenSizes, Sizes, is_image, open_sizes, positions, usual
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
        told = sizes.or_else(usual(architecture.layers))
        assert told.sequence_length is not None and told.image_size is not None
        self._sequence, self._image = told.sequence_length, told.image_size
        self._note(architecture, sizes, open_sizes(architecture.inputs, usual(architecture.layers), sizes))
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
            self.assumptions.append(
                f"Sequence length {self._sequence} assumed: input {sequence.input!r} leaves it open."
            )
        height, width = self._image
        if sizes.image_size is not None and image is None:
            self.assumptions.append(f"Image size {height} × {width} is not used: no input leaves one open.")
        elif sizes.image_size is None and image is not None:
            self.assumptions.append(f"Image size {height} × {width} assumed: input {image.input!r} leaves it open.")

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
