"""What the backward pass needs: the tensors that training keeps from the forward pass, layer by layer.

Peak memory of a forward pass: the tensors that are alive together, not the sum of all outputs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from stethoscope.architecture.activations import plain_type
from stethoscope.architecture.layer_kinds import (
    Kind,
    is_alias,
    keeps_before_activation,
    reads_input,
    reads_output,
    works_in_place,
)
from stethoscope.architecture.model_shape import LayerShape, ModelShape
from stethoscope.memory.liveness import Step, profile


@dataclass(frozen=True)
class Kept:
    """A tensor that is kept until the backward pass, per sample."""

    path: str
    """The layer it belongs to."""
    elements: int
    """Floating-point values, in the dtype of the activations."""
    fixed_bytes: int = 0
    """Bytes that no precision changes: masks of one byte, integer indices."""
    inside: bool = False
    """Within the layer (queries, gates, the value before a gelu) rather than its output."""
    attention_core: bool = False
    """Of size heads × positions², cheap to compute again: what selective recomputation drops."""
    split_by_tensor_parallelism: bool = False
    """Made by the split half of the layer, so that a tensor-parallel device holds its share only."""

    def bytes(self, batch: int, activation_bytes: int) -> int:
        """Bytes for `batch` samples."""
        return batch * (self.elements * activation_bytes + self.fixed_bytes)


def kept_tensors(shape: ModelShape) -> tuple[Kept, ...]:
    """Returns what one training step stores, in the order of the layers.

    A layer keeps its input when its weights are trained or its derivative depends on it (dense, convolution,
    normalisation, attention, gelu), and its output when the derivative is a function of it (relu, tanh, sigmoid, softmax).
    A tensor read by several is kept once; reshapes keep nothing; nothing is kept before the first trained layer.

    Source: Korthikanti et al. 2022, arXiv 2205.05198, section 4.1, layer by layer; for a GPT block the result is its
    s·b·h·(34 + 5·a·s/h).
    """
    root = alias_roots(shape.layers, training=True)
    by_path = {layer.path: layer for layer in shape.layers}
    has_gradient: dict[str, bool] = {}
    outputs: set[str] = set()
    inner: dict[str, list[Kept]] = {}
    for layer in shape.layers:
        below = any(has_gradient.get(path, False) for path in layer.inputs)
        has_gradient[layer.path] = below or layer.trainable_parameters > 0
        if not has_gradient[layer.path]:
            continue
        sources = [root[path] for path in layer.inputs if path in root]
        needs_input = reads_input(layer.kind, layer.activation)
        if layer.kind in (Kind.DENSE, Kind.CONVOLUTION, Kind.EMBEDDING) and not layer.trainable_parameters:
            needs_input = False
        if layer.config.get("trainable") is False and "batchnorm" in plain_type(layer.type):
            needs_input = False  # frozen, it applies its stored statistics: a linear map
        if needs_input:
            outputs.update(sources)
        if reads_output(layer.kind, layer.activation):
            outputs.add(root[layer.path])
        inner[layer.path] = list(_inside(layer, by_path))
    kept: list[Kept] = []
    for layer in shape.layers:
        if layer.path in outputs:
            kept.append(_output(layer))
        kept.extend(inner.get(layer.path, ()))
    return tuple(kept)


def _output(layer: LayerShape) -> Kept:
    if layer.element_bytes is None:
        return Kept(layer.path, layer.elements)
    return Kept(layer.path, 0, layer.elements * layer.element_bytes)


def _inside(layer: LayerShape, by_path: dict[str, LayerShape]) -> Iterator[Kept]:
    if keeps_before_activation(layer.kind, layer.activation):
        yield Kept(layer.path, layer.elements, inside=True)
    elif layer.kind is Kind.DROPOUT and _rate(layer) > 0:
        yield Kept(layer.path, 0, layer.elements, inside=True)
    elif layer.kind is Kind.RECURRENT:
        yield Kept(layer.path, recurrent_elements(layer, by_path), inside=True)
    elif layer.kind in (Kind.ATTENTION, Kind.TRANSFORMER):
        yield from _attention(layer, by_path)
    if layer.kind is Kind.TRANSFORMER:
        yield from _rest_of_block(layer)


def _rate(layer: LayerShape) -> float:
    value = layer.config.get("rate", layer.config.get("dropout", 0.0))
    return float(value) if isinstance(value, int | float) else 0.0


def attention_sizes(layer: LayerShape, by_path: dict[str, LayerShape]) -> tuple[int, int, int, int, int]:
    """Returns (query positions, key positions, heads, key/value heads, size of a head) of an attention layer."""
    config = layer.config
    heads = int(config.get("num_heads") or config.get("num_query_heads") or config.get("num_attention_heads") or 1)
    size = int(config.get("key_dim") or config.get("head_dim") or max(1, layer.width // heads))
    queries = math.prod(layer.shape[:-1]) if layer.shape else 1
    sources = [by_path[path] for path in layer.inputs[:2] if path in by_path and by_path[path].element_bytes is None]
    keys = sources[1] if len(sources) > 1 and len(sources[1].shape) == len(layer.shape) else None
    positions = math.prod(keys.shape[:-1]) if keys is not None else queries
    return queries, positions, heads, int(config.get("num_key_value_heads") or heads), size


def _attention(layer: LayerShape, by_path: dict[str, LayerShape]) -> Iterator[Kept]:
    queries, keys, heads, key_value_heads, size = attention_sizes(layer, by_path)
    projected = layer.kind is Kind.TRANSFORMER or layer.parameters > 0
    if projected:
        elements = queries * heads * size * 2 + 2 * keys * key_value_heads * size
        yield Kept(layer.path, elements, inside=True, split_by_tensor_parallelism=True)
    scores = heads * queries * keys
    dropped = _rate(layer) > 0
    yield Kept(
        layer.path,
        scores * (2 if dropped else 1),
        scores if dropped else 0,
        True,
        True,
        split_by_tensor_parallelism=projected,
    )


def _rest_of_block(layer: LayerShape) -> Iterator[Kept]:
    """A whole transformer block as one layer: two normalisations, the dense pair and the dropouts around them."""
    elements, hidden = layer.elements, max(1, layer.width)
    wide = int(layer.config.get("intermediate_dim") or layer.config.get("intermediate_size") or 4 * hidden)
    positions = elements // hidden
    yield Kept(layer.path, 3 * elements, 2 * elements if _rate(layer) > 0 else 0, inside=True)
    yield Kept(layer.path, 2 * positions * wide, inside=True, split_by_tensor_parallelism=True)


def recurrent_elements(layer: LayerShape, by_path: dict[str, LayerShape]) -> int:
    """Values per sample that back-propagation through time keeps within a recurrent layer.

    Per step and unit: LSTM four gates, the cell state and the hidden state; GRU three gates, the reset product and the
    hidden state; a simple cell its hidden state.
    """
    config = layer.config
    both = 2 if plain_type(layer.type) == "bidirectional" else 1
    wrapped = config.get("layer")
    name = layer.type
    if isinstance(wrapped, dict):
        name = str(wrapped.get("class_name", layer.type))
        inner = wrapped.get("config")
        config = inner if isinstance(inner, dict) else config
    per_unit = 6 if "lstm" in name.lower() else 5 if "gru" in name.lower() else 1
    units = config.get("units", config.get("filters"))
    source = next((by_path[path] for path in layer.inputs if path in by_path and by_path[path].shape), None)
    steps = source.shape[0] if source is not None and len(source.shape) > 1 else 1
    spatial = math.prod(source.shape[1:-1]) if source is not None and len(source.shape) > 2 else 1
    return both * per_unit * steps * spatial * (int(units) if isinstance(units, int) else layer.width // both)


def working_elements(layer: LayerShape, by_path: dict[str, LayerShape]) -> int:
    """Values per sample that a layer holds within itself during a forward pass without training."""
    if layer.kind in (Kind.ATTENTION, Kind.TRANSFORMER):
        queries, keys, heads, key_value_heads, size = attention_sizes(layer, by_path)
        projections = queries * heads * size + 2 * keys * key_value_heads * size if layer.parameters else 0
        wide = int(layer.config.get("intermediate_dim") or 4 * layer.width) if layer.kind is Kind.TRANSFORMER else 0
        return max(projections + 2 * heads * queries * keys, queries * wide)
    if layer.kind is Kind.RECURRENT:
        return 6 * layer.width
    return 0


def forward_flops(layer: LayerShape, by_path: dict[str, LayerShape]) -> int:
    """Floating-point operations of one forward pass per sample: twice the multiply-adds.

    Each weight of a dense or convolution kernel is used once per output position; attention adds two products over all
    pairs of positions.
    """
    positions = max(1, layer.elements // max(1, layer.width))
    if layer.kind in (Kind.DENSE, Kind.CONVOLUTION):
        return 2 * layer.parameters * positions
    if layer.kind in (Kind.ATTENTION, Kind.TRANSFORMER):
        queries, keys, heads, _, size = attention_sizes(layer, by_path)
        return 2 * layer.parameters * queries + 4 * queries * keys * heads * size
    if layer.kind is Kind.RECURRENT:
        source = next((by_path[path] for path in layer.inputs if path in by_path and by_path[path].shape), None)
        return 2 * layer.parameters * (source.shape[0] if source is not None and len(source.shape) > 1 else 1)
    return layer.elements


Bytes = Callable[[LayerShape], int]


def live_profile(shape: ModelShape, output_bytes: Bytes, inside_bytes: Bytes) -> list[int]:
    """Bytes alive while each layer runs, in the order of `shape.layers`.

    A tensor lives from the layer that makes it to the last that reads it; what the caller fed in and what it gets out
    live to the end. A reshape is its input under another name, and so is a dropout outside training. An element-wise
    layer writes over an input that nobody reads later.

    Args:
        shape: the model.
        output_bytes: size of a layer's output.
        inside_bytes: what a layer needs within itself while it runs (attention scores, gates).

    Source: register allocation by live ranges; TensorFlow's buffer forwarding (OpKernelContext::forward_input_or_allocate_output).
    """
    root = alias_roots(shape.layers)
    steps = []
    for layer in shape.layers:
        sources = tuple(dict.fromkeys(root[path] for path in layer.inputs if path in root and path != layer.path))
        aliases = {} if root[layer.path] == layer.path else {layer.path: root[layer.path]}
        over = sources if works_in_place(layer.kind) else ()
        steps.append(Step(layer.path, (layer.path,), sources, aliases, over, inside_bytes(layer)))
    sizes = {layer.path: output_bytes(layer) for layer in shape.layers}
    kept = [layer.path for layer in shape.layers if layer.path in shape.outputs or layer.kind is Kind.INPUT]
    return list(profile(steps, sizes, to_the_end=kept).live_bytes)


def alias_roots(layers: Sequence[LayerShape], *, training: bool = False) -> dict[str, str]:
    """For every layer the path of the layer that really made its output."""
    root: dict[str, str] = {}
    for layer in layers:
        source = next((path for path in layer.inputs if path in root), None)
        alias = is_alias(layer.kind) or (layer.kind is Kind.DROPOUT and not training)
        root[layer.path] = root[source] if alias and source is not None and layer.calls == 1 else layer.path
    return root


def crossing_bytes(shape: ModelShape, output_bytes: Bytes) -> list[int]:
    """Bytes of the tensors made at or before each layer and read after it: what a cut behind that layer must keep."""
    root = alias_roots(shape.layers, training=True)
    made = {layer.path: position for position, layer in enumerate(shape.layers)}
    last = _last_reads(shape, root)
    change = [0] * (len(shape.layers) + 1)
    for layer in shape.layers:
        if root[layer.path] == layer.path and last[layer.path] > made[layer.path]:
            size = output_bytes(layer)
            change[made[layer.path]] += size
            change[last[layer.path]] -= size
    total, crossing = 0, []
    for delta in change[:-1]:
        total += delta
        crossing.append(total)
    return crossing


def _last_reads(shape: ModelShape, root: dict[str, str]) -> dict[str, int]:
    last = {root[layer.path]: position for position, layer in enumerate(shape.layers)}
    for position, layer in enumerate(shape.layers):
        for path in layer.inputs:
            if path in root:
                last[root[path]] = max(last[root[path]], position)
    return last
