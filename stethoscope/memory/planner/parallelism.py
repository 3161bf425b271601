"""Bytes on each device, for one way of dividing the work.

Recomputation: where to cut a model so that the backward pass computes the activations between two cuts again.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

from stethoscope.architecture.layer_kinds import Kind
from stethoscope.architecture.model_shape import LayerShape, ModelShape, key_value_cache_bytes
from stethoscope.memory.planner.states import Layout, Optimizer, Precision, StateBytes, state_bytes
from stethoscope.memory.planner.stored import (
    Kept,
    attention_sizes,
    crossing_bytes,
    forward_flops,
    kept_tensors,
    live_profile,
    working_elements,
)
from stethoscope.memory.planner.tensor_parallel import TensorSplit, tensor_split
from stethoscope.memory.planner.tiles import kept_axes, padded, scores_axes


@dataclass(frozen=True)
class BytesPerDevice:
    """What the fullest device holds."""

    weights: int
    gradients: int
    optimizer: int
    activations: int
    buffers: int

    @property
    def total(self) -> int:
        """All of it."""
        return self.weights + self.gradients + self.optimizer + self.activations + self.buffers


@dataclass(frozen=True)
class Workload:
    """A model and what is done with it."""

    shape: ModelShape
    precision: Precision
    optimizer: Optimizer | None
    """None for inference."""
    batch_size: int
    """Samples in one step over all devices together."""
    cached_tokens: int = 0
    """Positions per sample whose keys and values a text generator keeps; 0 when none are kept."""
    tiled: bool = False
    """Whether tensors lie in tiles of 8 × 128, as on a TPU, so that their last two axes are padded."""
    by_path: dict[str, LayerShape] = field(init=False, compare=False, hash=False, repr=False)
    kept: tuple[Kept, ...] = field(init=False, compare=False, hash=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "by_path", {layer.path: layer for layer in self.shape.layers})
        object.__setattr__(self, "kept", kept_tensors(self.shape) if self.training else ())

    @property
    def training(self) -> bool:
        """Whether gradients are computed."""
        return self.optimizer is not None


class Division:
    """A workload over tensor-parallel devices: what every layer costs there, per sample, computed once.

    Args:
        work: the workload.
        tensor: degree of tensor parallelism.
    """

    def __init__(self, work: Workload, tensor: int) -> None:
        self.work, self.shape, self.tensor = work, work.shape, tensor
        self.split: TensorSplit = tensor_split(work.shape, tensor)
        self.parameters = [self.split.parameters(layer) for layer in self.shape.layers]
        self.trainable = [self.split.trainable(layer) for layer in self.shape.layers]
        self.kept = self._kept(with_attention=True)
        self.kept_selective = self._kept(with_attention=False)

    def output(self, layer: LayerShape) -> int:
        """Bytes per sample of a layer's output on one device."""
        size = layer.output_bytes(1, self.work.precision.activation_bytes)
        if self.work.tiled:
            size = padded(size, layer.shape)
        return -(-size // self.tensor) if layer.path in self.split.split_outputs else size

    def inside(self, layer: LayerShape) -> int:
        """Bytes per sample that a layer works with during a forward pass."""
        elements = working_elements(layer, self.work.by_path)
        if self.work.tiled:
            elements = padded(elements, scores_axes(layer, self.work.by_path))
        return (
            -(-elements // (self.tensor if layer.path in self.split.how else 1)) * self.work.precision.activation_bytes
        )

    def _kept(self, with_attention: bool) -> list[int]:
        position = {layer.path: index for index, layer in enumerate(self.shape.layers)}
        sizes = [0] * len(self.shape.layers)
        for tensor in self.work.kept:
            if with_attention or not tensor.attention_core:
                size = tensor.bytes(1, self.work.precision.activation_bytes)
                if self.work.tiled:
                    size = padded(size, kept_axes(tensor, self.work.by_path))
                sizes[position[tensor.path]] += -(-size // self.tensor) if self._is_split(tensor) else size
        return sizes

    def _is_split(self, tensor: Kept) -> bool:
        in_split_layer = tensor.split_by_tensor_parallelism and tensor.path in self.split.how
        return in_split_layer or tensor.path in self.split.split_outputs

    @functools.cached_property
    def crossing(self) -> list[int]:
        """Bytes per sample that cross a cut behind each layer."""
        return crossing_bytes(self.shape, self.output)

    @functools.cached_property
    def live(self) -> list[int]:
        """Bytes per sample alive at each layer of a forward pass."""
        return live_profile(self.shape, self.output, self.inside)

    @functools.cached_property
    def backward(self) -> list[int]:
        """Bytes per sample of the gradients that one step of the backward pass holds: of a layer's output and inputs."""
        floats = {layer.path: self.output(layer) for layer in self.shape.layers if layer.element_bytes is None}
        return [
            floats.get(layer.path, 0) + sum(floats.get(path, 0) for path in layer.inputs)
            if layer.kind is not Kind.INPUT and layer.path in floats
            else 0
            for layer in self.shape.layers
        ]

    @functools.cached_property
    def flops(self) -> tuple[int, int, int]:
        """Operations of a forward pass per sample: all, in layers that every device repeats, in attention scores."""
        total = alone = core = 0
        for layer in self.shape.layers:
            operations = forward_flops(layer, self.work.by_path)
            total += operations
            if layer.path not in self.split.how and layer.path not in self.split.split_outputs:
                alone += operations
            if layer.kind in (Kind.ATTENTION, Kind.TRANSFORMER):
                queries, keys, heads, _, size = attention_sizes(layer, self.work.by_path)
                core += 4 * queries * keys * heads * size
        return total, alone, core

    @functools.cached_property
    def all_reduced(self) -> list[int]:
        """Values per sample that tensor-parallel devices exchange behind each layer in a forward pass."""
        return [self.split.all_reduced_elements(layer) for layer in self.shape.layers]

    @functools.cached_property
    def segments(self) -> Segments:
        """Where full recomputation cuts."""
        return segments(self.shape, self.kept, self.crossing)


@dataclass(frozen=True)
class Estimate:
    """What a layout needs."""

    layout: Layout
    bytes: BytesPerDevice
    division: Division


def estimate(work: Workload, layout: Layout, division: Division | None = None) -> Estimate:
    """Computes the bytes on the device that holds most, for a layout that TensorFlow or Keras can run.

    Args:
        work: model, precision, optimizer, batch.
        layout: how the devices are divided.
        division: `Division(work, layout.tensor)` when it is at hand.
    """
    on = division or Division(work, layout.tensor)
    size = -(-work.batch_size // layout.data)
    states = _states(work, on)
    buffers = _exchange(work, layout, on, size)
    if not work.training:
        activations = max(on.live, default=0) * size + _cache(work, layout, on, size)
        buffers += max(on.parameters, default=0) * work.precision.cast_bytes
        return Estimate(layout, BytesPerDevice(states.weights, 0, 0, activations, buffers), on)
    buffers += sum(on.parameters) * work.precision.cast_bytes + max(on.backward, default=0) * size
    if layout.recompute == "full":
        kept = sum(on.crossing[cut] for cut in on.segments.cuts)
        ranges = on.segments.ranges(len(on.kept))
        buffers += max((sum(on.kept[start:end]) for start, end in ranges), default=0) * size
    elif layout.recompute == "selective":
        kept = sum(on.kept_selective)
        buffers += max((a - b for a, b in zip(on.kept, on.kept_selective, strict=True)), default=0) * size
    else:
        kept = sum(on.kept)
    held = BytesPerDevice(states.weights, states.gradients, states.optimizer, kept * size, buffers)
    return Estimate(layout, held, on)


def _states(work: Workload, on: Division) -> StateBytes:
    parameters = sum(on.parameters)
    stored = work.shape.stored_weight_bytes
    if not work.training and stored and work.shape.parameters:
        return StateBytes(-(-stored * parameters // work.shape.parameters), 0, 0)
    return state_bytes(parameters, sum(on.trainable), work.precision, work.optimizer)


def _exchange(work: Workload, layout: Layout, on: Division, size: int) -> int:
    """Buffers of collective operations: gradients packed for the all-reduce, partial sums of `size` samples.

    Source: `_pack_tensors`, num_packs=1, tensorflow/python/distribute/cross_device_ops.py (a flat copy of all gradients).
    """
    total = 0
    if work.training and layout.data > 1:
        total += sum(on.trainable) * work.precision.gradient_bytes
    if layout.tensor > 1:
        total += max(on.all_reduced, default=0) * work.precision.activation_bytes * size
    return total


def _cache(work: Workload, layout: Layout, on: Division, size: int) -> int:
    transformer = work.shape.transformer
    if transformer is None or not work.cached_tokens:
        return 0
    blocks = [layer for layer in work.shape.layers if layer.kind in (Kind.ATTENTION, Kind.TRANSFORMER)]
    split = all(layer.path in on.split.how for layer in blocks) and bool(blocks)
    whole = key_value_cache_bytes(
        len(blocks),
        transformer.key_value_heads,
        transformer.head_size,
        work.cached_tokens,
        size,
        work.precision.activation_bytes,
    )
    return -(-whole // layout.tensor) if split else whole


_MOST_SEGMENTS = 128
_SLACK = 1.2
"""A mask that crosses along with the residual stream does not make a place a worse cut."""


@dataclass(frozen=True)
class Segments:
    """Cuts behind layers, by position in `ModelShape.layers`; the last layer is not a cut."""

    cuts: tuple[int, ...]

    def ranges(self, count: int) -> list[tuple[int, int]]:
        """The stretches between cuts of a model of `count` layers."""
        edges = [0, *(cut + 1 for cut in self.cuts if cut < count - 1), count]
        return [(a, b) for a, b in itertools.pairwise(edges) if b > a]


def segments(shape: ModelShape, kept_bytes: Sequence[int], crossing: Sequence[int]) -> Segments:
    """Chooses the cuts: before every transformer block, or, for other models, those that need the least memory.

    Args:
        shape: the model.
        kept_bytes: what each layer stores without recomputation.
        crossing: what a cut behind each layer keeps.

    Source: Chen et al. 2016, arXiv 1604.06174 (about √n segments); for transformers Korthikanti et al., arXiv 2205.05198,
    section 5: the input of every layer, 2·s·b·h.
    """
    attention = [
        position for position, layer in enumerate(shape.layers) if layer.kind in (Kind.ATTENTION, Kind.TRANSFORMER)
    ]
    if attention:
        return Segments(tuple(_before_blocks(attention, crossing, shape)))
    total, count = sum(kept_bytes), len(shape.layers)
    best: tuple[int, list[int]] = (total, [])
    number = 2
    while number <= min(_MOST_SEGMENTS, count):
        cuts = _even(kept_bytes, crossing, total / number)
        ranges = Segments(tuple(cuts)).ranges(count)
        cost = sum(crossing[cut] for cut in cuts) + max(sum(kept_bytes[a:b]) for a, b in ranges)
        best = min(best, (cost, cuts))
        number += 1 if number < 16 else 8
    return Segments(tuple(best[1]))


def _before_blocks(attention: Sequence[int], crossing: Sequence[int], shape: ModelShape) -> list[int]:
    """One cut before each block, on the narrow residual stream; token indices before the embedding are no such stream."""
    first = attention[0]
    wide = [p for p in range(first) if crossing[p] and shape.layers[p].elements >= shape.layers[first].elements]
    narrowest = min((crossing[p] for p in wide), default=0)
    cuts = [p for p in wide if crossing[p] <= _SLACK * narrowest][-1:]
    for here, following in itertools.pairwise(attention):
        lowest = min(crossing[here:following])
        cuts.append(max(p for p in range(here, following) if crossing[p] == lowest))
    return cuts


def _even(kept_bytes: Sequence[int], crossing: Sequence[int], target: float) -> list[int]:
    """Cuts about every `target` bytes, each at the narrowest place of the last half of its stretch."""
    cuts: list[int] = []
    start, held = 0, 0
    for position, size in enumerate(kept_bytes):
        held += size
        if held >= target and position < len(kept_bytes) - 1:
            earliest = max(start, (start + position) // 2)
            narrowest = min(range(earliest, position + 1), key=lambda p: (crossing[p], -p))
            cuts.append(narrowest)
            start = narrowest + 1
            held = sum(kept_bytes[start : position + 1])
    return cuts
