"""What becomes of an input before the first layer with weights: scaled, normalised, looked up, or taken as it is."""

from __future__ import annotations

from dataclasses import dataclass, replace

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
