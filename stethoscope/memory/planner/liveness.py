"""Peak memory of a forward pass: the tensors that are alive together, not the sum of all outputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from stethoscope.architecture.layer_kinds import Kind, is_alias, works_in_place
from stethoscope.architecture.model_shape import LayerShape, ModelShape
from stethoscope.memory.liveness import Step, profile

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
