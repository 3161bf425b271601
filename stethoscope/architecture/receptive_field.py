"""Receptive fields: how much of the model's input one value of a layer's output depends on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from stethoscope.architecture.activations import plain_type
from stethoscope.architecture.concrete_shapes import ConcreteShapes, concrete_shapes
from stethoscope.architecture.dynamic_sizes import INPUTS
from stethoscope.architecture.layer_kinds import Kind, kind_of
from stethoscope.architecture.model_shape import in_order
from stethoscope.architecture.reach_rules import Step, after, windowed_axes
from stethoscope.architecture.windows import Reach, Source, Stretch, window_of
from stethoscope.types import Architecture, Layer, Operand, Shape


@dataclass(frozen=True)
class ReceptiveField:
    """Of one layer's output, in positions of the input: pixels of an image, steps of a sequence; one number per dimension.

    Attributes:
        size: how many neighbouring positions one value depends on, along the paths that stay local: the largest of all branches.
            Empty where no local path is left.
        stride: positions of the input between neighbouring values.
        offset: the middle of the first value's field, 0 being the first position; padding makes it smaller.
        is_global: it depends on every position too, because some path pools, attends, normalises or connects all with all.
    """

    size: tuple[int, ...]
    stride: tuple[float, ...]
    offset: tuple[float, ...]
    is_global: bool


def receptive_fields(architecture: Architecture) -> dict[str, ReceptiveField]:
    """Returns the receptive field of each layer for which it can be told, by path; empty for models without any window.

    Sizes are those of the theory: near a border part of a field lies on padding. Along several branches the largest counts.

    Args:
        architecture: what `describe` gives.

    Source: Araujo, Norris, Sim: "Computing Receptive Fields of Convolutional Neural Networks", Distill 2019,
        distill.pub/2019/computing-receptive-fields.
    """
    shapes = concrete_shapes(architecture, 2)
    reaches: dict[str, Reach | None] = {}
    positions: set[Source] = set()
    ordered, _ = in_order(architecture.layers)
    inputs = {spec.shape: spec.name for spec in reversed(architecture.inputs)}
    for layer in ordered:
        step = _step(layer, shapes, reaches, inputs)
        reaches[layer.path] = _begin(layer, shapes) if step is None else after(step)
        if step is not None:
            positions |= _moved_over(step)
    found = {}
    for path, reach in reaches.items():
        field = _field(reach, positions) if reach is not None else None
        if field is not None:
            found[path] = field
    return {layer.path: found[layer.path] for layer in architecture.layers if layer.path in found}


def _begin(layer: Layer, shapes: ConcreteShapes) -> Reach | None:
    size = shapes.output(layer.path)
    return None if size is None else _fresh(layer.path, len(size))


def _fresh(name: str, rank: int) -> Reach:
    return Reach(tuple({} if axis == 0 else {(name, axis): Stretch()} for axis in range(rank)))


def _step(
    layer: Layer, shapes: ConcreteShapes, reaches: dict[str, Reach | None], inputs: dict[Shape | None, str]
) -> Step | None:
    """The first call of a layer; None for one that is an input of the model."""
    operands = layer.operands or tuple(Operand(path, None) for path in layer.inputs)
    if not operands and plain_type(layer.type) in INPUTS:
        return None
    call = shapes.calls[layer.path][0]
    reads = []
    for operand, size in zip(operands, call.operands, strict=False):
        if operand.path in reaches:
            reach = reaches[operand.path]
            reads.append(reach if reach is not None and size is not None and len(reach.axes) == len(size) else None)
        elif not operand.path and operand.shape in inputs and size is not None:
            reads.append(_fresh(inputs[operand.shape], len(size)))
        else:
            reads.append(None)
    unknown = any(
        operand.path in reaches and reach is None and (operand.shape is None or len(operand.shape) > 1)
        for operand, reach in zip(operands, reads, strict=False)
    )
    return Step(layer, tuple(reads), call.operands[: len(reads)], None if unknown else call.output)


def _moved_over(step: Step) -> set[Source]:
    """Axes of the inputs that count as positions: windows, recurrence or attention run along them."""
    given = step.tensors()
    if not given:
        return set()
    reach = given[0][0]
    window = window_of(step.layer)
    axes: Iterable[int] = ()
    if window is not None:
        axes = windowed_axes(window, len(reach.axes))
    elif kind_of(step.layer.type, 0) in (Kind.RECURRENT, Kind.ATTENTION, Kind.TRANSFORMER):
        axes = range(1, len(reach.axes) - 1)
    return {source for axis in axes for source in reach.axes[axis]}


def _field(reach: Reach, positions: set[Source]) -> ReceptiveField | None:
    seen = {source: stretch for source, stretch in reach.everything().items() if source in positions}
    if not seen:
        return None
    by_input: dict[str, list[tuple[int, Stretch]]] = {}
    for (name, axis), stretch in sorted(seen.items()):
        by_input.setdefault(name, []).append((axis, stretch))
    local = {source for axis in reach.axes for source in axis}
    widest = max(by_input, key=lambda name: (len(by_input[name]), sum(stretch.size for _, stretch in by_input[name])))
    stretches = [stretch for _, stretch in by_input[widest]]
    is_local = any((widest, axis) in local for axis, _ in by_input[widest]) or not all(s.whole for s in stretches)
    return ReceptiveField(
        size=tuple(_whole(stretch.size) for stretch in stretches) if is_local else (),
        stride=tuple(float(stretch.jump) for stretch in stretches) if is_local else (),
        offset=tuple(float(stretch.start) for stretch in stretches) if is_local else (),
        is_global=any(stretch.whole for stretch in seen.values()),
    )


def _whole(size: Fraction) -> int:
    return -int(-size // 1)
