"""What each layer costs at a batch size: floating-point operations and bytes of what it yields, from the architecture alone.

Work of Keras' layers that hold others or repeat themselves: recurrent layers, attention, wrappers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from stethoscope.architecture import layer_work, operator_work
from stethoscope.architecture.activations import plain_type
from stethoscope.architecture.concrete_shapes import Call, concrete_shapes
from stethoscope.architecture.layer_work import Given, Rule, Size, Unknown, Work, elements
from stethoscope.architecture.open_sizes import Sizes
from stethoscope.models.formats import format_of
from stethoscope.models.formats.keras_model.keras_operation_shapes import operation_key
from stethoscope.models.formats.keras_model.keras_shapes import output_shapes
from stethoscope.models.formats.keras_model.keras_spatial_shapes import cells, inner_layer, tuple_of, window
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
    tables = (RULES, operator_work.RULES) if keras else (operator_work.RULES,)
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


_GATES = {"lstm": 4, "gru": 3, "simplernn": 1}


def _recurrent(given: Given) -> Work:
    return _cell(
        plain_type(given.type).removeprefix("cudnn").removesuffix("v1"), given.config, given.read(), given.read()[-1]
    )


def _cell(kind: str, config: Mapping[str, Any], read: Size, features: int) -> Work:
    gates, units = _GATES.get(kind.removesuffix("cell")), config.get("units")
    if gates is None or not isinstance(units, int):
        raise Unknown("its cell is not one of Keras' own")
    batch, steps = read[0], read[1]

    macs = batch * steps * gates * units * (features + units)
    # Bias and the sum of both products for every gate, then what the gates are multiplied with and added to.
    other = batch * steps * units * {4: 4 + 4 + 4, 3: 3 + 3 + 5, 1: 2}[gates]
    return Work(macs, other)


def _stack(given: Given) -> Work:
    found, features = Work(), given.read()[-1]
    parts = cells(dict(given.config))
    if not parts:
        raise Unknown("its cell is not one of Keras' own")
    for class_name, config in parts:
        found += _cell(plain_type(class_name), config, given.read(), features)
        features = int(config["units"])
    return found


def _convolutional(given: Given) -> Work:
    """ConvLSTM: at every step a convolution of the input and one of the state, each for four gates."""
    config = dict(given.config)
    rank = int(given.kind[8])
    read, filters = given.read(), given.number("filters")
    first = config.get("data_format") == "channels_first"
    sizes, channels = (read[3:], read[2]) if first else (read[2:-1], read[-1])
    kernel = tuple_of(config["kernel_size"], rank)
    stride, dilation = tuple_of(config.get("strides") or 1, rank), tuple_of(config.get("dilation_rate") or 1, rank)
    padding = str(config.get("padding", "valid"))
    out = [window(*item, padding) or 0 for item in zip(sizes, kernel, stride, dilation, strict=True)]
    values = read[0] * read[1] * math.prod(out) * filters
    return Work(values * 4 * math.prod(kernel) * (channels + filters), values * 12)


def _bidirectional(given: Given) -> Work:
    inner = inner_layer(dict(given.config))
    if inner is None:
        raise Unknown("the layer it wraps is not in the file")
    other = given.config.get("backward_layer")
    backward = (str(other["class_name"]), other["config"]) if isinstance(other, Mapping) else inner
    made = elements(given.made())
    merged = (
        made
        if given.config.get("merge_mode") in ("sum", "mul")
        else 2 * made
        if given.config.get("merge_mode") == "ave"
        else 0
    )
    return _inside(given, inner, given.operands) + _inside(given, backward, given.operands) + Work(0, merged)


def _each_step(given: Given) -> Work:
    inner = inner_layer(dict(given.config))
    if inner is None:
        raise Unknown("the layer it wraps is not in the file")
    read = given.read()
    return _inside(given, inner, ((read[0], *read[2:]),)).times(read[1])


def _wrapper(given: Given) -> Work:
    inner = inner_layer(dict(given.config))
    if inner is None:
        raise Unknown("the layer it wraps is not in the file")
    return _inside(given, inner, given.operands)


def _inside(given: Given, layer: tuple[str, Mapping[str, Any]], operands: tuple[Size | None, ...]) -> Work:
    class_name, config = layer
    found = output_shapes(class_name, dict(config), list(operands))
    shape = found[0] if found else None
    output = tuple(size or 0 for size in shape) if shape is not None and None not in shape else None
    rule = RULES.get(plain_type(class_name))
    if rule is None:
        raise Unknown(f"the work of a {class_name} inside it is not known")
    return rule(replace(given, type=class_name, config=config, operands=operands, output=output))


def _multi_head(given: Given) -> Work:
    """Projections of query, key and value, a product of all pairs of positions, softmax, the weighted sum, and the output."""
    heads, size = given.number("num_heads", "num_query_heads"), given.number("key_dim", "head_dim")
    value_size = given.config.get("value_dim") or size
    key_heads = given.number("num_key_value_heads", default=heads)
    query = given.read(0)
    value = given.read(1) if len(given.operands) > 1 else query
    made = given.made()
    key = _key(given, query, value, heads * size * made[-1])
    attended = given.config.get("attention_axes")
    axes = [attended] if isinstance(attended, int) else list(attended or range(1, len(query) - 1))
    asked, held = math.prod(query[axis] for axis in axes), math.prod(value[axis] for axis in axes)
    rows = elements(query[:-1]) // max(1, asked)
    pairs = rows * heads * asked * held
    queries, keys = elements(query[:-1]), elements(value[:-1])
    projections = queries * query[-1] * heads * size + keys * key_heads * (key[-1] * size + value[-1] * int(value_size))
    macs = projections + pairs * (size + int(value_size)) + queries * heads * int(value_size) * made[-1]
    biases = queries * heads * size + keys * key_heads * (size + int(value_size)) + queries * made[-1]
    scaled = queries * heads * size
    return Work(macs, (biases if given.flag("use_bias", True) else 0) + scaled + 5 * pairs)


def _key(given: Given, query: Size, value: Size, output_weights: int) -> Size:
    """The key where it is a tensor of its own: a third operand that is not a mask, which no weights are made for."""
    third = given.operands[2] if len(given.operands) > 2 else None
    if third is None or third[:-1] != value[:-1] or third[-1] == value[-1]:
        return value
    heads, size = given.number("num_heads", "num_query_heads"), given.number("key_dim", "head_dim")
    kernels = heads * size * (query[-1] + 2 * value[-1]) + output_weights
    return (
        third
        if given.layer.parameters and abs(given.layer.parameters - kernels) > heads * size * 4 + given.made()[-1]
        else value
    )


def _attention(given: Given) -> Work:
    query, value = given.read(0), given.read(1)
    key = given.read(2) if len(given.operands) > 2 and len(given.read(2)) == 3 else value
    pairs = elements(query[:-1]) * value[-2]
    scored = pairs * key[-1]
    weighted = pairs * value[-1]
    if given.kind == "additiveattention":
        return Work(weighted, scored * (3 if given.flag("use_scale", True) else 2) + 5 * pairs)
    return Work(scored + weighted, 5 * pairs + (pairs if given.config.get("use_scale") else 0))


RULES: dict[str, Rule] = {
    **layer_work.RULES,
    **dict.fromkeys(("lstm", "gru", "simplernn", "cudnnlstm", "cudnngru", "lstmv1", "gruv1"), _recurrent),
    **{f"convlstm{rank}d": _convolutional for rank in (1, 2, 3)},
    "rnn": _stack,
    "bidirectional": _bidirectional,
    "timedistributed": _each_step,
    "wrapper": _wrapper,
    "spectralnormalization": _wrapper,
    "multiheadattention": _multi_head,
    "groupedqueryattention": _multi_head,
    "groupqueryattention": _multi_head,
    "attention": _attention,
    "additiveattention": _attention,
}
"""By the layer's type in one spelling: all of Keras' layers."""
