"""What becomes of an input before the first layer with weights, and how far it is from the scale that networks start well from."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

from stethoscope.data.study.profiles import ArrayProfile
from stethoscope.types import Architecture, Layer

_KEEPS = frozenset(
    {
        "InputLayer",
        "Dropout",
        "SpatialDropout1D",
        "SpatialDropout2D",
        "SpatialDropout3D",
        "Flatten",
        "Reshape",
        "Permute",
        "RepeatVector",
        "Masking",
        "Identity",
        "GaussianNoise",
        "GaussianDropout",
        "AlphaDropout",
        "ActivityRegularization",
        "Concatenate",
        "Cast",
        "Transpose",
        "ExpandDims",
        "Squeeze",
        "ZeroPadding1D",
        "ZeroPadding2D",
        "ZeroPadding3D",
        "Cropping1D",
        "Cropping2D",
        "Cropping3D",
        "Resizing",
        "CenterCrop",
        "RandomCrop",
        "RandomFlip",
        "RandomRotation",
        "RandomTranslation",
        "RandomZoom",
        "RandomHeight",
        "RandomWidth",
        "MaxPooling1D",
        "MaxPooling2D",
        "MaxPooling3D",
        "AveragePooling1D",
        "AveragePooling2D",
        "AveragePooling3D",
        "GlobalAveragePooling1D",
        "GlobalAveragePooling2D",
        "GlobalMaxPooling1D",
        "GlobalMaxPooling2D",
        "UpSampling1D",
        "UpSampling2D",
        "UpSampling3D",
    }
)
"""Layers that hand values on at the same scale."""
_NORMALISES = frozenset(
    {
        "Normalization",
        "BatchNormalization",
        "LayerNormalization",
        "GroupNormalization",
        "UnitNormalization",
        "RMSNormalization",
        "SyncBatchNormalization",
    }
)
_LOOKS_UP = frozenset(
    {
        "Embedding",
        "Hashing",
        "StringLookup",
        "IntegerLookup",
        "TextVectorization",
        "CategoryEncoding",
        "Discretization",
        "HashedCrossing",
    }
)
_WRAPS = frozenset({"TimeDistributed", "Bidirectional"})


@dataclass(frozen=True)
class InputRoute:
    """The way of one input. At most one of `normalised`, `looked_up` and `unknown` is set; each names a layer."""

    input: str
    scale: float = 1.0
    offset: float = 0.0
    """What Rescaling layers make of a value: value · scale + offset."""
    rescaling: tuple[str, ...] = ()
    normalised: str = ""
    """A layer that brings the values to a common scale."""
    looked_up: str = ""
    """A layer that takes the values as numbers of words or categories."""
    unknown: str = ""
    """A layer or operation that changes values in a way that cannot be read off the file."""
    first: Layer | None = None
    """The first layer with weights, when the values reach it."""
    normalised_after: str = ""
    """A normalisation directly behind `first`: the scale of the whole input is taken out there."""

    @property
    def reaches_weights(self) -> bool:
        """Whether the values, as given and rescaled, are what the first weights multiply."""
        return self.first is not None and not (self.normalised or self.looked_up or self.unknown)


def input_route(architecture: Architecture, name: str, idle: frozenset[str] = frozenset()) -> InputRoute:
    """Follows the input `name`. Where it splits, the branch that treats the values best is told.

    `idle` are normalisation layers that are known to change nothing (frozen with statistics 0 and 1).
    """
    start = _start(architecture, name)
    if start is None:
        return InputRoute(name, unknown=name)
    readers: dict[str, list[Layer]] = {}
    for layer in architecture.layers:
        for source in layer.inputs:
            readers.setdefault(source, []).append(layer)
    routes = _follow(InputRoute(name), start, readers, idle, 0)
    ranked = sorted(routes, key=lambda route: (route.reaches_weights, not route.looked_up))
    return ranked[0] if ranked else InputRoute(name, unknown=name)


def _start(architecture: Architecture, name: str) -> Layer | None:
    """The layer an input enters by: of its name, else by its place among those that read nothing."""
    named = next((layer for layer in architecture.layers if layer.path == name), None)
    if named is not None:
        return named
    names = [spec.name for spec in architecture.inputs]
    roots = [layer for layer in architecture.layers if not layer.inputs]
    return roots[names.index(name)] if name in names and len(roots) == len(names) else None


def _follow(
    route: InputRoute, layer: Layer, readers: dict[str, list[Layer]], idle: frozenset[str], depth: int
) -> list[InputRoute]:
    if layer.type == "Rescaling":
        scale, offset = layer.config.get("scale"), layer.config.get("offset", 0.0)
        if not isinstance(scale, int | float) or not isinstance(offset, int | float):
            return [replace(route, normalised=layer.path)]
        route = replace(
            route,
            scale=route.scale * scale,
            offset=route.offset * scale + offset,
            rescaling=(*route.rescaling, layer.path),
        )
    elif layer.type in _NORMALISES and layer.path not in idle:
        return [replace(route, normalised=layer.path)]
    elif layer.type in _LOOKS_UP or (layer.type in _WRAPS and "Embedding" in str(layer.config)):
        return [replace(route, looked_up=layer.path)]
    elif layer.parameters and layer.type not in _NORMALISES:
        after = readers.get(layer.path, [])
        behind = next((other.path for other in after if other.type in _NORMALISES and other.path not in idle), "")
        return [replace(route, first=layer, normalised_after=behind)]
    elif layer.type not in _KEEPS and layer.type not in _NORMALISES:
        return [replace(route, unknown=layer.path)]
    if depth > 60:
        return [replace(route, unknown=layer.path)]
    return [
        found for reader in readers.get(layer.path, []) for found in _follow(route, reader, readers, idle, depth + 1)
    ]


LARGE, HUGE = 10.0, 30.0
"""Root mean square of the largest column. Initialisers are made for inputs of variance 1 (Glorot and Bengio, 2010; He et
al., 2015): the first layer's outputs, its gradients and the loss grow in proportion to it, and the largest learning rate
that converges falls with its square (LeCun et al., Efficient BackProp, 1998, section 4.3)."""
TINY = 0.01
UNEVEN = 100.0
"""Ratio of the columns' root mean squares. The condition number of least squares grows with its square."""
PIXEL_COLUMNS = 16

Level = Literal["fine", "large", "huge"]


@dataclass(frozen=True)
class Scale:
    """The scale of an array as a layer receives it. `largest` and `smallest` are columns' root mean squares."""

    largest: float
    smallest: float
    minimum: float
    maximum: float
    pixels: bool
    """Values from 0 to 255 in an image, or in a row of many whole numbers."""
    level: Level
    columns: tuple[float, ...]
    """Root mean square of each column (or of the whole array)."""


def scale_of(array: ArrayProfile, factor: float = 1.0, offset: float = 0.0) -> Scale | None:
    """Returns the scale of value · factor + offset; None without numbers."""
    if array.minimum is None or array.maximum is None or array.mean is None or array.std is None:
        return None
    features = array.features
    means = features.mean if features else (array.mean,)
    stds = features.std if features else (array.std,)
    moved = [
        math.hypot(mean * factor + offset, std * factor)
        for mean, std in zip(means, stds, strict=True)
        if math.isfinite(mean)
    ]
    if not moved:
        return None
    low, high = sorted((array.minimum * factor + offset, array.maximum * factor + offset))
    varying = [size for size in moved if size > 0]
    largest, smallest = max(moved), min(varying, default=0.0)
    image = len(array.shape) == 4 and array.shape[-1] in (1, 3, 4)
    many = array.integral and math.prod(array.shape[1:]) >= PIXEL_COLUMNS
    pixels = (image or many) and low >= 0 and 100 < high <= 255.5
    overall = math.sqrt(sum(size**2 for size in moved) / len(moved))
    if pixels or largest >= HUGE:
        level: Level = "huge"
    elif largest >= LARGE or (0 < overall < TINY):
        level = "large"
    else:
        level = "fine"
    return Scale(largest, smallest, low, high, pixels, level, tuple(moved))
