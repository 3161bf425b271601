"""Every open dimension of a model made a number: from the batch and the sizes at its inputs, through each layer in turn.

What a layer's description leaves open follows from what it reads: by Keras' own shape rules, or because a layer keeps the number
of elements (reshape, transpose), the shape (activation, addition) or moves a window (convolution, pooling). What does not follow
stays unknown; nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from stethoscope.architecture import dynamic_sizes
from stethoscope.architecture.activations import plain_type
from stethoscope.architecture.model_shape import in_order
from stethoscope.architecture.open_sizes import OpenSizes, Sizes, is_image, open_sizes, sizes_of_file
from stethoscope.errors import BadSetting
from stethoscope.models.formats import format_of
from stethoscope.models.formats.keras_model.keras_shapes import output_shapes
from stethoscope.types import Architecture, Layer, Operand, Shape

Size = tuple[int, ...]
_LARGEST_BATCH = 1 << 24
_MOST_ROUNDS = 4


@dataclass(frozen=True)
class Call:
    """One call of a layer with every size known, or None where it is not."""

    operands: tuple[Size | None, ...]
    output: Size | None


@dataclass
class ConcreteShapes:
    """Shapes by layer path.

    Attributes:
        calls: each call of each layer.
        scale: what to multiply by, where the file itself fixes the batch: the batch asked for over the one in the file.
        assumptions: sentences about sizes that the file leaves open and nobody gave.
    """

    calls: dict[str, tuple[Call, ...]] = field(default_factory=dict)
    scale: Fraction = Fraction(1)
    assumptions: tuple[str, ...] = ()

    def output(self, path: str) -> Size | None:
        """The first output of the first call."""
        calls = self.calls.get(path, ())
        return calls[0].output if calls else None


def concrete_shapes(architecture: Architecture, batch: int = 1, sizes: Sizes | None = None) -> ConcreteShapes:
    """Resolves the shapes of every layer.

    Args:
        architecture: what `describe` gives.
        batch: samples in one run.
        sizes: for what the inputs leave open; None takes a sequence of 128 and an image of 224 × 224, and says so.

    Raises:
        BadSetting: a batch of less than one sample.
    """
    if not 1 <= batch <= _LARGEST_BATCH:
        raise BadSetting(f"Batch size {batch}: expected 1 to {_LARGEST_BATCH:,}. Correct it.")
    ends = _Ends(architecture, batch, sizes or Sizes())
    resolving = _Resolving(architecture, ends.shapes, {layer.path: layer.output_shape for layer in architecture.layers})
    ordered = in_order(architecture.layers)[0]
    unknown = len(ordered) + 1
    for _ in range(_MOST_ROUNDS):
        # A layer called again on what came of its first call makes the order of layers a circle.
        for layer in ordered:
            resolving.calls[layer.path] = resolving.layer(layer)
        before, unknown = unknown, sum(call.output is None for calls in resolving.calls.values() for call in calls)
        if not unknown or unknown == before:
            break
    return ConcreteShapes(resolving.calls, ends.scale, tuple(ends.assumptions))


class _Ends:
    """The model's inputs with every size a number."""

    def __init__(self, architecture: Architecture, batch: int, sizes: Sizes) -> None:
        found = open_sizes(architecture.inputs, given=sizes, of_file=sizes_of_file(architecture.layers))
        known = [spec for spec in architecture.inputs if spec.shape]
        self.shapes = {spec.name: found.shape(spec, batch) for spec in known}
        self.assumptions = list(dict.fromkeys(_assumptions(found)))
        fixed = [spec.shape[0] for spec in sorted(known, key=lambda spec: -len(spec.shape or ())) if spec.shape]
        lead = fixed[0] if fixed and None not in fixed else None
        self.scale = Fraction(batch, lead) if lead else Fraction(1)


def _assumptions(found: OpenSizes) -> Iterator[str]:
    specs = {spec.name: spec for spec in found.inputs}
    for item in found.dimensions:
        if item.source != "assumed":
            continue
        if is_image(specs[item.input]):
            yield f"Image size {item.size} × {item.size} assumed: input {item.input[:80]!r} leaves it open."
        else:
            yield f"Sequence length {item.size} assumed: input {item.input[:80]!r} leaves it open."


class _Resolving:
    """Layers resolved in the order of the file, sources first."""

    def __init__(self, architecture: Architecture, inputs: dict[str, Size], declared: dict[str, Shape | None]) -> None:
        self.calls: dict[str, tuple[Call, ...]] = {}
        self._inputs = inputs
        self._declared = declared
        self._batch = next(iter(inputs.values()), (1,))[0]
        self._keras = format_of(architecture).live
        self._outside = [(spec.shape, inputs[spec.name]) for spec in architecture.inputs if spec.name in inputs]

    def layer(self, layer: Layer) -> tuple[Call, ...]:
        operands = layer.operands or tuple(Operand(path, self._declared.get(path)) for path in layer.inputs)
        count = max(1, layer.calls)
        each = len(operands) // count
        if each * count != len(operands):
            count, each = 1, len(operands)
        parts = [operands[at * each : (at + 1) * each] for at in range(count)]
        found: list[Call] = []
        for part in parts:
            found.append(self._call(layer, part))
            self.calls[layer.path] = tuple(found)
        return tuple(found)

    def _call(self, layer: Layer, operands: Sequence[Operand]) -> Call:
        given = tuple(self._operand(operand) for operand in operands)
        declared = layer.output_shape
        if not operands and layer.path in self._inputs and plain_type(layer.type) in dynamic_sizes.INPUTS:
            return Call((), self._inputs[layer.path])
        if declared is not None and None not in declared:
            return Call(given, tuple(size or 0 for size in declared))
        found = self._followed(layer, operands, given)
        if found is None and not operands and declared is not None:
            found = next((known for shape, known in self._outside if shape == declared), None)
        return Call(given, found)

    def _operand(self, operand: Operand) -> Size | None:
        shape = operand.shape
        if shape is not None and None not in shape:
            return tuple(size or 0 for size in shape)
        known = None
        if operand.path:
            calls = self.calls.get(operand.path, ())
            known = calls[0].output if calls else None
        elif shape is not None:
            known = next((filled for declared, filled in self._outside if declared == shape), None)
        if shape is None or known is None:
            return known
        if len(shape) == len(known):
            return tuple(new if old is None else old for old, new in zip(shape, known, strict=True))
        return None

    def _followed(self, layer: Layer, operands: Sequence[Operand], given: tuple[Size | None, ...]) -> Size | None:
        declared = layer.output_shape
        if self._keras and given and None not in given:
            config = dict(layer.config)
            found = output_shapes(layer.type, config, list(given))[:1]
            if found and found[0] is not None and None not in found[0]:
                size = tuple(size or 0 for size in found[0])
                if declared is None or len(declared) == len(size):
                    return size
        if declared is None:
            return None
        try:
            filled = dynamic_sizes.filled(layer, declared, [operand.shape for operand in operands], given)
        except (TypeError, ValueError, IndexError, ZeroDivisionError, OverflowError):
            return None  # Settings that do not fit the sizes: no runtime could compute them either.
        if filled is None and self._keras and "trainable" in layer.config and declared and None not in declared[1:]:
            return (self._batch, *(size or 0 for size in declared[1:]))  # Keras' layers keep the batch first.
        return filled if filled is None or min(filled, default=0) >= 0 else None
