"""What each layer costs at a batch size: floating-point operations and bytes of what it yields, from the architecture alone."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from stethoscope.architecture import keras_wrapped_work, operator_work
from stethoscope.architecture.concrete_shapes import Call, concrete_shapes
from stethoscope.architecture.dynamic_sizes import Sizes
from stethoscope.architecture.layer_kinds import plain_type
from stethoscope.architecture.work import Given, Unknown, Work
from stethoscope.models.formats import format_of
from stethoscope.models.formats.keras_model.keras_operation_shapes import operation_key
from stethoscope.types import Architecture, Layer

_BITS = {"bool": 8, "bfloat16": 16, "": 32}
_KERAS_OPERATIONS = ("tfoplambda", "slicingoplambda", "tensorflowoplayer", "classmethod", "instancemethod")


@dataclass(frozen=True)
class LayerCost:
    """One layer in one run of the model, all calls of a shared layer together.

    Attributes:
        path: of the layer.
        flops: floating-point operations; None where they cannot be known.
        macs: the multiply-adds among them, each two operations.
        output_bytes: of what the layer yields (its first output), in the dtype of the file; None where a size is open.
        why_not: a sentence for `flops` that are None, else "".
    """

    path: str
    flops: int | None
    macs: int | None
    output_bytes: int | None
    why_not: str = ""


@dataclass(frozen=True)
class TotalCost:
    """All layers together: sums over those that are known, and how many are not."""

    flops: int
    macs: int
    output_bytes: int
    layers: int
    without_flops: int
    without_bytes: int


def costs(architecture: Architecture, batch: int = 1, sizes: Sizes | None = None) -> tuple[LayerCost, ...]:
    """Computes the cost of each layer, in the order of `architecture.layers`.

    Pure Python, a few microseconds per layer: fit for the server to call. Conventions in `work`; where the file fixes the batch,
    the cost of that batch is scaled to the one asked for.

    Args:
        architecture: what `describe` gives.
        batch: samples in one run.
        sizes: for dimensions the inputs leave open; None takes a sequence of 128 and an image of 224 × 224.

    Raises:
        BadSetting: a batch or size that makes no sense.
    """
    shapes = concrete_shapes(architecture, batch, sizes)
    keras = format_of(architecture).live
    found = []
    for layer in architecture.layers:
        calls = shapes.calls[layer.path]
        output_bytes = _bytes(layer, calls, shapes.scale)
        try:
            work = _all_calls(layer, calls, keras)
        except Unknown as unknown:
            found.append(LayerCost(layer.path, None, None, output_bytes, f"Not known: {unknown}."))
            continue
        flops, macs = _scaled(work.flops, shapes.scale), _scaled(work.macs, shapes.scale)
        found.append(LayerCost(layer.path, flops, macs, output_bytes))
    return tuple(found)


def total(found: Iterable[LayerCost]) -> TotalCost:
    """Adds up what is known."""
    items = list(found)
    return TotalCost(
        flops=sum(item.flops or 0 for item in items),
        macs=sum(item.macs or 0 for item in items),
        output_bytes=sum(item.output_bytes or 0 for item in items),
        layers=len(items),
        without_flops=sum(item.flops is None for item in items),
        without_bytes=sum(item.output_bytes is None for item in items),
    )


def _all_calls(layer: Layer, calls: tuple[Call, ...], keras: bool) -> Work:
    kind = _kind(layer)
    tables = (keras_wrapped_work.RULES, operator_work.RULES) if keras else (operator_work.RULES,)
    rule = next((table[kind] for table in tables if kind in table), None)
    if rule is None:
        raise Unknown(f"the work of a {layer.type[:60]} is not known")
    work = Work()
    for call in calls:
        try:
            work += rule(Given(layer, layer.type, layer.config, call.operands, call.output))
        except (TypeError, ValueError, IndexError, KeyError, AttributeError, ZeroDivisionError) as error:
            raise Unknown("its settings do not fit the sizes it reads") from error
    return work


def _kind(layer: Layer) -> str:
    """The type in one spelling; of a plain operation that Keras recorded, the operation."""
    kind = plain_type(layer.type)
    if kind in _KERAS_OPERATIONS:
        return operation_key(str(layer.config.get("function") or layer.type))
    return kind


def _bytes(layer: Layer, calls: tuple[Call, ...], scale: Fraction) -> int | None:
    if any(call.output is None for call in calls):
        return None
    values = sum(math.prod(call.output or ()) for call in calls)
    return _scaled((values * _bits(layer.dtype) + 7) // 8, scale)


def _bits(dtype: str) -> int:
    digits = re.search(r"\d+", dtype)
    return _BITS[dtype] if dtype in _BITS else int(digits[0]) if digits else 32


def _scaled(value: int, scale: Fraction) -> int:
    return int(value * scale)
