"""A model as planning sees it: for every layer its parameters, its output per sample, and what it does to memory.

Published arithmetic of transformers: the cache of keys and values.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from stethoscope.architecture.activations import SOFTMAX, plain_type
from stethoscope.architecture.dynamic_sizes import Resolver
from stethoscope.architecture.layer_kinds import Kind, activation_of, calls, kind_of
from stethoscope.architecture.open_sizes import Sizes
from stethoscope.models.formats import format_of
from stethoscope.types import Architecture, Layer

_FLOATS = frozenset({"float32", "float16", "bfloat16", "float64", ""})
_WIDTHS = {"int64": 8, "uint64": 8, "int32": 4, "uint32": 4, "int16": 2, "uint16": 2, "int8": 1, "uint8": 1, "bool": 1}


@dataclass(frozen=True)
class LayerShape:
    """One layer with every number resolved. Elements are counted per sample."""

    path: str
    type: str
    kind: Kind
    activation: str
    inputs: tuple[str, ...]
    parameters: int
    trainable_parameters: int
    shape: tuple[int, ...]
    """The output without the batch dimension."""
    calls: int
    elements: int
    """Of the output, all calls together."""
    element_bytes: int | None
    """Of a dtype that no policy changes (integers, booleans); None for floating point."""
    config: Mapping[str, Any]

    def output_bytes(self, batch: int, activation_bytes: int) -> int:
        """Bytes of the output for `batch` samples."""
        return self.elements * batch * (self.element_bytes or activation_bytes)

    @property
    def width(self) -> int:
        """Features of the output: units, filters, channels."""
        return self.shape[-1] if self.shape else 1


@dataclass(frozen=True)
class ModelShape:
    """A model, its layers in an order in which they can run."""

    layers: tuple[LayerShape, ...]
    outputs: frozenset[str]
    """Paths of layers whose output the caller gets."""
    parameters: int
    trainable_parameters: int
    stored_weight_bytes: int
    """What the file's weights take where their own dtype counts (quantised formats); 0 when a precision decides."""
    assumptions: tuple[str, ...]
    transformer: TransformerShape | None
    sequence_length: int | None
    live: bool
    """Whether it is a live Keras model once it is opened."""
    trainable: bool
    """Whether what the file holds can be trained further."""
    trainable_known: bool
    """Whether the format says what is trained; all parameters count as trainable where it does not."""

    def layer(self, path: str) -> LayerShape:
        """The layer at `path`."""
        return next(layer for layer in self.layers if layer.path == path)

    def counts(self) -> dict[Kind, int]:
        """How many layers of each kind there are."""
        return dict(Counter(layer.kind for layer in self.layers))


def model_shape(
    architecture: Architecture, sequence_length: int | None = None, image_size: tuple[int, int] | None = None
) -> ModelShape:
    """Resolves an architecture.

    Args:
        architecture: what `describe` gives.
        sequence_length: for models that leave it open; a default is taken and reported otherwise.
        image_size: (height, width), likewise.

    Raises:
        BadSetting: a size that makes no sense.
    """
    resolver = Resolver(architecture, Sizes(sequence_length, image_size))
    ordered, unordered = in_order([*_unlisted_inputs(architecture), *architecture.layers])
    trainable_known = architecture.trainable_parameters is not None
    unknown: list[str] = []
    times: dict[str, int] = {}
    format_ = format_of(architecture)
    keras = format_.live
    for layer in ordered:
        together = sum(times.get(path, 1) for path in layer.inputs)
        times[layer.path] = calls(_kind(layer), together) if keras else 1
    layers = tuple(_layer(layer, resolver, trainable_known, times[layer.path], unknown) for layer in ordered)
    notes = list(resolver.assumptions)
    if unknown:
        notes.append(
            f"{len(unknown)} layers have no known output shape ({unknown[0]}, …): activations are a lower bound."
        )
    if unordered:
        notes.append("The layers form a loop: they are taken in the order of the file.")
    shared = [layer.path for layer in layers if layer.calls > 1 and layer.kind is not Kind.RESHAPE]
    if shared:
        notes.append(f"Shared layers count once in weights and once per call in activations ({shared[0]}).")
    transformer = find_transformer(layers)
    return ModelShape(
        layers=layers,
        outputs=_output_paths(architecture, layers),
        parameters=sum(layer.parameters for layer in layers),
        trainable_parameters=sum(layer.trainable_parameters for layer in layers),
        stored_weight_bytes=0 if keras else architecture.weight_bytes,
        assumptions=tuple(notes),
        transformer=transformer,
        sequence_length=transformer.sequence_length if transformer else None,
        live=format_.live,
        trainable=format_.trainable,
        trainable_known=trainable_known,
    )


def _layer(layer: Layer, resolver: Resolver, trainable_known: bool, times: int, unknown: list[str]) -> LayerShape:
    kind = _kind(layer)
    shape = resolver.resolve(layer)
    if shape is None and layer.parameters:
        unknown.append(layer.path)
    dtype = layer.dtype.lower()
    config = _wrapped(layer)[1]
    constant = layer.output_shape is not None and not layer.inputs and kind is not Kind.INPUT and layer.parameters > 0
    per_call = 0 if shape is None or _is_scalar(layer) or (constant and kind is Kind.RESHAPE) else math.prod(shape)
    return LayerShape(
        path=layer.path,
        type=layer.type,
        kind=kind,
        activation=activation_of(layer.type, kind, config),
        inputs=layer.inputs,
        parameters=layer.parameters,
        trainable_parameters=layer.trainable_parameters if trainable_known else layer.parameters,
        shape=shape or (),
        calls=times,
        elements=per_call * times,
        element_bytes=None if dtype in _FLOATS else _WIDTHS.get(dtype, 4),
        config=config,
    )


def _kind(layer: Layer) -> Kind:
    return kind_of(_wrapped(layer)[0], layer.parameters)


def _wrapped(layer: Layer) -> tuple[str, Mapping[str, Any]]:
    """(type, config) of a layer, or of the one it applies to every time step (TimeDistributed)."""
    inner = layer.config.get("layer")
    if plain_type(layer.type) == "timedistributed" and isinstance(inner, Mapping):
        config = inner.get("config")
        return str(inner.get("class_name", "")), config if isinstance(config, Mapping) else {}
    return layer.type, layer.config


def _unlisted_inputs(architecture: Architecture) -> list[Layer]:
    """Inputs of formats that list operators only: the caller holds them all the same."""
    if any(_kind(layer) is Kind.INPUT for layer in architecture.layers):
        return []
    taken = {layer.path for layer in architecture.layers}
    return [
        Layer(spec.name, "Input", spec.shape, 0, 0, spec.dtype)
        for spec in architecture.inputs
        if spec.name and spec.name not in taken
    ]


def _is_scalar(layer: Layer) -> bool:
    """Whether the output has no batch: a Shape operator's list of sizes is not worth counting."""
    return layer.output_shape is not None and (
        not layer.output_shape or (len(layer.output_shape) == 1 and layer.output_shape[0] is not None)
    )


def in_order(layers: Sequence[Layer]) -> tuple[list[Layer], bool]:
    """Layers sorted so that sources come first, otherwise as listed; whether that was impossible."""
    by_path = {layer.path: layer for layer in layers}
    waiting = {layer.path: {p for p in layer.inputs if p in by_path and p != layer.path} for layer in layers}
    readers: dict[str, list[str]] = {}
    for path, sources in waiting.items():
        for source in sources:
            readers.setdefault(source, []).append(path)
    position = {layer.path: index for index, layer in enumerate(layers)}
    ready = [position[path] for path, sources in waiting.items() if not sources]
    heapq.heapify(ready)
    ordered: list[Layer] = []
    while ready:
        layer = layers[heapq.heappop(ready)]
        ordered.append(layer)
        for reader in readers.get(layer.path, ()):
            waiting[reader].discard(layer.path)
            if not waiting[reader]:
                heapq.heappush(ready, position[reader])
    return (ordered, False) if len(ordered) == len(by_path) else (list(layers), True)


def _output_paths(architecture: Architecture, layers: Sequence[LayerShape]) -> frozenset[str]:
    paths = {layer.path for layer in layers}
    named = frozenset(path for path in architecture.output_layers if path in paths)
    if named:
        return named
    read = {source for layer in layers for source in layer.inputs}
    return frozenset(path for path in paths if path not in read)


def find_transformer(layers: Sequence[LayerShape]) -> TransformerShape | None:
    """Recognises a stack of attention blocks: layers of that kind, or a softmax over a square of positions.

    Blocks that differ in heads or width are described by the widest.
    """
    found = [shape for layer in layers for shape in (_attention(layer, layers),) if shape is not None]
    if not found:
        return None
    widest = max(found, key=lambda shape: (shape.hidden, shape.heads))
    return TransformerShape(
        blocks=len(found),
        heads=widest.heads,
        hidden=widest.hidden,
        sequence_length=widest.sequence_length,
        key_value_heads=widest.key_value_heads,
        head_size=widest.head_size,
    )


def _attention(layer: LayerShape, layers: Sequence[LayerShape]) -> TransformerShape | None:
    config = layer.config
    if layer.kind in (Kind.ATTENTION, Kind.TRANSFORMER) and len(layer.shape) >= 2:
        heads = int(config.get("num_heads") or config.get("num_query_heads") or config.get("num_attention_heads") or 1)
        size = int(config.get("key_dim") or config.get("head_dim") or max(1, layer.width // heads))
        key_value_heads = int(config.get("num_key_value_heads") or heads)
        return TransformerShape(1, heads, layer.width, math.prod(layer.shape[:-1]), key_value_heads, size)
    is_softmax = SOFTMAX.name in (plain_type(layer.type), layer.activation)
    if is_softmax and len(layer.shape) == 3 and layer.shape[1] == layer.shape[2] and layer.shape[1] > 1:
        widths = Counter(other.width for other in layers if len(other.shape) == 2 and other.kind is Kind.DENSE)
        hidden = widths.most_common(1)[0][0] if widths else layer.shape[0]
        heads = layer.shape[0]
        return TransformerShape(1, heads, hidden, layer.shape[1], heads, max(1, hidden // heads))
    return None


Recompute = Literal["none", "selective", "full"]


@dataclass(frozen=True)
class TransformerShape:
    """The numbers that the formulas of transformers take."""

    blocks: int
    heads: int
    hidden: int
    sequence_length: int
    key_value_heads: int
    head_size: int


def key_value_cache_bytes(
    layers: int, key_value_heads: int, head_size: int, sequence: int, batch: int, element_bytes: int
) -> int:
    """Bytes of the keys and values kept while generating: 2·L·n_kv·d_head·s·B·bytes.

    Source: NVIDIA, “Mastering LLM Techniques: Inference Optimization” (Llama 2 7B, 4096 tokens, 16-bit: about 2 GB).
    """
    return 2 * layers * key_value_heads * head_size * sequence * batch * element_bytes
