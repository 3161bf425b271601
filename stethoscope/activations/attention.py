"""Where a model attends: which layers hold attention scores, told from the architecture alone."""

from __future__ import annotations

from stethoscope.types import Architecture, Layer

_BETWEEN = frozenset(
    [
        "add",
        "addv2",
        "sub",
        "subtract",
        "mul",
        "multiply",
        "div",
        "realdiv",
        "divide",
        "where",
        "select",
        "selectv2",
        "cast",
        "reshape",
        "identity",
        "biasadd",
        "broadcastto",
        "expanddims",
        "squeeze",
        "transpose",
        "clip",
        "minimum",
        "maximum",
        "dequantize",
        "quantize",
    ]
)
"""Operators between the product of queries and keys and its softmax: scaling, masks, changes of form."""
_PRODUCTS = frozenset(("batchmatmul", "batchmatmulv2", "batchmatmulv3", "einsum", "matmul", "dotgeneral", "dot"))


def attention_layers(architecture: Architecture) -> tuple[str, ...]:
    """Paths of the layers whose attention scores the task `look` can show.

    In Keras every layer named for attention; layers of the user's own are looked into when they are called. In graphs the
    softmax operators over a product of two computed tensors, with scores for each pair of positions.
    """
    by_path = {layer.path: layer for layer in architecture.layers}
    return tuple(layer.path for layer in architecture.layers if holds_scores(layer, by_path))


def holds_scores(layer: Layer, by_path: dict[str, Layer]) -> bool:
    """Whether a layer computes attention (Keras) or its output is attention scores (a graph's softmax)."""
    kind = layer.type.lower().replace("_", "")
    if kind != "softmax":
        return "attention" in kind
    shape = layer.output_shape
    if shape is not None and (len(shape) < 3 or shape[-1] == 1):
        return False
    waiting, seen = list(layer.inputs), set[str]()
    while waiting and len(seen) < 40:
        path = waiting.pop(0)
        source = by_path.get(path)
        if source is None or path in seen:
            continue
        seen.add(path)
        name = source.type.lower().replace("_", "")
        if name in _PRODUCTS:
            # A product with a weight has one computed source; of queries with keys, two.
            return len([one for one in source.inputs if one in by_path]) > 1
        if name in _BETWEEN:
            waiting.extend(source.inputs)
    return False
