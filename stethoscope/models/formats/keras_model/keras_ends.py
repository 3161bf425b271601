"""A Keras model's ends: its input and output tensors, and the layers that yield them.

What a Keras file says about training: loss, optimizer, learning rate and metrics, in every layout Keras has used.

A layer's settings, made readable: what a person or a check wants to see of a serialized config.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stethoscope.models.formats.keras_model.keras_config import Entry, Network, Ref, as_shape, refs_in
from stethoscope.models.formats.keras_model.keras_shapes import Flows, input_refs, is_operation
from stethoscope.types import CompileSettings, Shape, TensorSpec


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


_ALIASES = {
    "sgd": "SGD",
    "rmsprop": "RMSprop",
    "adam": "Adam",
    "adamw": "AdamW",
    "adagrad": "Adagrad",
    "adadelta": "Adadelta",
    "adamax": "Adamax",
}
_DEFAULT_RATES = {
    "SGD": 0.01,
    **dict.fromkeys(("RMSprop", "Adam", "AdamW", "Adagrad", "Adadelta", "Adamax", "Nadam", "Ftrl", "Lion"), 0.001),
}


def compile_settings(training: Any) -> CompileSettings | None:
    """Reads `compile_config` (.keras) or `training_config` (.h5); None when the model was not compiled."""
    if not isinstance(training, dict) or not (
        training.get("loss") or training.get("optimizer") or training.get("optimizer_config")
    ):
        return None
    optimizer = training.get("optimizer_config") or training.get("optimizer")
    name, config = None, {}
    if isinstance(optimizer, str):
        name = _ALIASES.get(optimizer.lower(), optimizer)
        config = {"learning_rate": _DEFAULT_RATES.get(name)}
    elif isinstance(optimizer, dict):
        inner = optimizer.get("config")
        name = str(optimizer.get("class_name") or "").removeprefix("Custom>") or None
        config = inner if isinstance(inner, dict) else {}
        wrapped = config.get("inner_optimizer") or config.get("optimizer")
        if isinstance(wrapped, dict) and isinstance(wrapped.get("config"), dict):
            config = wrapped["config"]
    metrics = [*_named(training.get("metrics")), *_named(training.get("weighted_metrics"))]
    details = {
        "loss": training.get("loss"),
        "loss_weights": training.get("loss_weights"),
        "optimizer": {"class_name": name, "config": config} if name else None,
        "metrics": training.get("metrics"),
        "jit_compile": training.get("jit_compile"),
    }
    return CompileSettings(_readable(training.get("loss")), name, _rate(config), tuple(metrics), details)


def _rate(config: dict[str, Any]) -> float | None:
    for key in ("learning_rate", "lr"):
        value = config.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
    return None


def _named(value: Any) -> list[Any]:
    if isinstance(value, dict) and "class_name" not in value:
        return [{key: _readable(item)} for key, item in value.items()]
    items = value if isinstance(value, list) else [] if value is None else [value]
    return [_readable(item) for item in items if item is not None]


def _readable(value: Any) -> Any:
    if isinstance(value, list):
        return [_readable(item) for item in value]
    if not isinstance(value, dict):
        return value
    kind, config = value.get("class_name"), value.get("config")
    if kind == "function" and isinstance(config, str):
        return config
    if isinstance(kind, str):
        settings = readable_config(config) if isinstance(config, dict) else {}
        inner = settings.get("fn")
        return inner if kind == "MeanMetricWrapper" and isinstance(inner, str) else kind
    return {key: _readable(item) for key, item in value.items()}


_NOISE = frozenset(
    {"name", "module", "registered_name", "shared_object_id", "build_config", "compile_config", "layers"}
)
_MAX_ITEMS = 64
_MAX_TEXT = 400


def readable_config(config: dict[str, Any]) -> dict[str, Any]:
    """Returns the config without Keras' bookkeeping: objects as {"class_name", "config"}, functions by name, long lists cut."""
    return {key: _value(item, 0) for key, item in config.items() if key not in _NOISE and item is not None}


def dtype_name(policy: Any) -> str:
    """The dtype a layer computes in: of a dtype or policy in any of Keras' notations, "float32" when not given."""
    if isinstance(policy, dict):
        config = policy.get("config")
        if isinstance(config, dict):
            policy = config.get("name") or config.get("dtype")
        else:
            policy = config if isinstance(config, str) else policy.get("name")
    if not isinstance(policy, str) or not policy:
        return "float32"
    if "_from_" in policy:
        policy = policy.split("_from_", 1)[1]
    return str(policy).removeprefix("mixed_")


def _value(value: Any, depth: int) -> Any:
    if depth > 12:
        return "…"
    if isinstance(value, str):
        return value if len(value) <= _MAX_TEXT else value[:_MAX_TEXT] + "…"
    if isinstance(value, list | tuple):
        items = [_value(item, depth + 1) for item in value[:_MAX_ITEMS]]
        return items if len(value) <= _MAX_ITEMS else [*items, f"… {len(value):,} items"]
    if isinstance(value, dict):
        return _mapping(value, depth)
    return value


def _mapping(value: dict[str, Any], depth: int) -> Any:
    kind, config = value.get("class_name"), value.get("config")
    if kind in ("DTypePolicy", "Policy"):
        return dtype_name(value)
    if kind == "__tuple__":
        return _value(value.get("items"), depth + 1)
    if kind in ("__lambda__",):
        return "Python lambda"
    if kind == "function" and isinstance(config, str):
        return config
    if isinstance(kind, str):
        inner = config if isinstance(config, dict) else {}
        name = {"name": inner["name"]} if isinstance(inner.get("name"), str) else {}
        return {
            "class_name": kind,
            "config": {**name, **{k: _value(v, depth + 1) for k, v in inner.items() if k not in _NOISE}},
        }
    return {key: _value(item, depth + 1) for key, item in list(value.items())[:_MAX_ITEMS]}
