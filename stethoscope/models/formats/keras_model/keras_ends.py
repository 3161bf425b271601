"""A Keras model's ends: its input and output tensors, and the layers that yield them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stethoscope.models.formats.keras_model.keras_config import Entry, Network, Ref, as_shape, refs_in
from stethoscope.models.formats.keras_model.keras_layer_config import dtype_name
from stethoscope.models.formats.keras_model.keras_shapes import Flows, input_refs, is_operation
from stethoscope.types import Shape, TensorSpec


def ends(entry: Entry, prefix: str, depth: int = 0) -> tuple[str, ...]:
    """The paths that yield an entry's output: its own, or the output layers of a nested model."""
    path = prefix + entry.name
    if entry.network is None or depth > 50:
        return (path,)
    inner = {item.name: item for item in entry.network.entries}
    found = [
        end
        for ref in refs_in(entry.network.outputs)
        if ref.name in inner
        for end in ends(inner[ref.name], path + "/", depth + 1)
    ]
    return tuple(dict.fromkeys(found))


def output_layers(network: Network) -> tuple[str, ...]:
    """For each output the path of the layer that yields it, "" when it cannot be told."""
    entries = {entry.name: entry for entry in network.entries}
    yielding = [ends(entries[ref.name], "") if ref.name in entries else () for ref in refs_in(network.outputs)]
    return tuple(paths[-1] if paths else "" for paths in yielding)


def layer_dtype(entry: Entry, network: Network) -> str:
    """The dtype a layer puts out, "" when the file does not say."""
    if "dtype" in entry.config or not is_operation(entry):
        return dtype_name(entry.config.get("dtype") or entry.config.get("input_dtype"))
    for other in network.entries:
        for call in other.calls:
            for ref in call.refs():
                if ref.name == entry.name and ref.dtype:
                    return ref.dtype
    return ""


def input_specs(network: Network, flows: Flows, modern: bool) -> tuple[TensorSpec, ...]:
    """The model's inputs, under the names Keras gives them."""
    entries = {entry.name: entry for entry in network.entries}
    specs = []
    for ref in input_refs(network):
        specs.append(_input(ref, entries, flows, modern, network))
    return tuple(specs)


def _input(ref: Ref, entries: dict[str, Entry], flows: Flows, modern: bool, network: Network) -> TensorSpec:
    entry = entries.get(ref.name)
    if entry is None:
        return TensorSpec(ref.name, None, "")
    flow = flows.get(ref.name)
    if entry.class_name == "InputLayer" or entry.network is None:
        is_input = entry.class_name == "InputLayer"
        name = ref.name if is_input else ("input_layer" if modern else f"{ref.name}_input")
        shape = (flow.output if is_input else flow.inputs[0]) if flow and (is_input or flow.inputs) else None
        dtype = dtype_name(entry.config.get("dtype") or entry.config.get("input_dtype"))
        if not is_input and entry.class_name == "Embedding" and not modern:
            dtype = dtype_name(entry.config.get("input_dtype") or entry.config.get("dtype"))
        return TensorSpec(name, shape, dtype)
    # A Sequential whose first layer is itself a model takes that model's input.
    inner = input_specs(
        entry.network,
        {key[len(ref.name) + 1 :]: value for key, value in flows.items() if key.startswith(ref.name + "/")},
        modern,
    )
    return (
        TensorSpec("input_layer" if modern else f"{ref.name}_input", inner[0].shape, inner[0].dtype)
        if inner
        else TensorSpec(ref.name, None, "")
    )


def output_specs(network: Network, shapes: Sequence[Shape | None]) -> tuple[TensorSpec, ...]:
    """The model's outputs with their shapes."""
    entries = {entry.name: entry for entry in network.entries}
    refs = list(refs_in(network.outputs))
    keyed = network.outputs if isinstance(network.outputs, dict) and len(network.outputs) == len(refs) else None
    names: list[str] = list(keyed) if keyed else unique_names([ref.name for ref in refs])
    specs = []
    for name, ref, shape in zip(names, refs, shapes, strict=False):
        entry = entries.get(ref.name)
        specs.append(TensorSpec(str(name), shape, "" if entry is None else _output_dtype(entry, network)))
    return tuple(specs)


def _output_dtype(entry: Entry, network: Network) -> str:
    if entry.network is not None:
        inner = {item.name: item for item in entry.network.entries}
        for ref in refs_in(entry.network.outputs):
            if ref.name in inner:
                return _output_dtype(inner[ref.name], entry.network)
    return layer_dtype(entry, network)


def unique_names(names: Sequence[str]) -> list[str]:
    """Keras' own rule for outputs from the same layer: name, name_1, name_2 …"""
    seen: dict[str, int] = {}
    out = []
    for name in names:
        count = seen.get(name, 0)
        seen[name] = count + 1
        out.append(f"{name}_{count}" if count else name)
    return out


def built_inputs(model: dict[str, Any]) -> tuple[TensorSpec, ...]:
    """The input of a subclassed model, from the shape it was built with; empty when that was not kept."""
    build = model.get("build_config")
    shape = as_shape(build.get("input_shape")) if isinstance(build, dict) else None
    if shape is None:
        return ()
    config = model.get("config")
    return (
        TensorSpec("inputs", (None, *shape[1:]), dtype_name(config.get("dtype") if isinstance(config, dict) else None)),
    )
