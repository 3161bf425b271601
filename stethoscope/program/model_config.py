"""Edits of a serialised Keras model: settings of layers, wherever they are nested. Nothing is loaded, nothing changed in place."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from stethoscope.architecture.activations import ACTIVATION_LAYERS, LINEAR
from stethoscope.errors import CannotRun
from stethoscope.program.setup import Setup

Entry = dict[str, Any]
"""One layer as a model's config lists it: {"class_name", "config", "inbound_nodes", …}."""
_KERNELS = ("kernel_initializer", "depthwise_initializer", "pointwise_initializer", "embeddings_initializer")
_SIZES = ("units", "filters")


def structure(setup: Setup) -> dict[str, Any]:
    """A deep copy of the model's config to edit, without the shapes its layers were built with.

    Keras 3 stores those shapes beside each layer; after an edit upstream they would be wrong, and they follow anyway
    when the layers are called.

    Raises:
        CannotRun: a subclassed model, whose connections only its program knows.
    """
    if setup.config is None or not isinstance(setup.config.get("config", {}).get("layers"), list):
        raise CannotRun(
            "The model: expected a Sequential or Functional model to change, got one defined by its own class. "
            "Make the change in its program."
        )
    config = copy.deepcopy(setup.config)
    for _, entry in walk(config):
        entry.pop("build_config", None)
    config.pop("build_config", None)
    return config


def walk(model: Entry, prefix: str = "") -> Iterator[tuple[str, Entry]]:
    """Yields (path, entry) of every layer, nested models and their layers too; outer before inner."""
    for entry in model["config"]["layers"]:
        path = prefix + name_of(entry)
        yield path, entry
        if is_model(entry):
            yield from walk(entry, path + "/")


def is_model(entry: Entry) -> bool:
    """Whether an entry is a model with layers of its own."""
    config = entry.get("config")
    return isinstance(config, dict) and isinstance(config.get("layers"), list)


def name_of(entry: Entry) -> str:
    """The layer's own name."""
    return str(entry["config"].get("name") or entry.get("name") or "")


def layer_at(model: Entry, path: str) -> Entry:
    """The entry at `path`, itself and not a copy.

    Raises:
        CannotRun: there is none.
    """
    for found, entry in walk(model):
        if found == path:
            return entry
    raise CannotRun(f"Layer {path!r}: expected it in the model's config, got none of that name. Nothing was changed.")


def settings_with(entry: Entry, setting: str) -> list[dict[str, Any]]:
    """The configs that hold `setting`: the layer's own, or those of the layers it wraps (Bidirectional, TimeDistributed)."""
    config = entry["config"]
    if setting in config:
        return [config]
    wrapped = [config[key] for key in ("layer", "backward_layer", "forward_layer") if isinstance(config.get(key), dict)]
    return [
        found for inner in wrapped if isinstance(inner.get("config"), dict) for found in settings_with(inner, setting)
    ]


def with_config(setup: Setup, config: dict[str, Any], renewed: Sequence[str] = ()) -> Setup:
    """A copy with this model; the layers at the paths `renewed` start from new weights."""
    changed = setup.with_changes(config=config)
    return changed.without_weights({path.split("/")[0] for path in renewed}) if renewed else changed


def with_settings(setup: Setup, layers: Sequence[str], **settings: Any) -> Setup:
    """A copy in which each of `layers` has these settings; with none named, every layer that has them.

    Raises:
        CannotRun: no such layer, or it has no such setting.
    """
    config = structure(setup)
    for name, value in settings.items():
        chosen = list(layers) or [
            path for path, entry in walk(config) if name in entry["config"] and not is_model(entry)
        ]
        for path in chosen:
            held = settings_with(layer_at(config, path), name)
            if not held:
                raise CannotRun(f"Layer {path!r}: expected a setting {name}, got none. Nothing was changed.")
            for found in held:
                found[name] = value
    return with_config(setup, config)


def with_activation(setup: Setup, layer: str, activation: str) -> Setup:
    """A copy in which `layer` applies `activation`; a layer that takes none gets an Activation layer behind it."""
    config = structure(setup)
    entry = layer_at(config, layer)
    if entry["class_name"] in ACTIVATION_LAYERS:
        _as_activation(entry, activation)
    else:
        held = settings_with(entry, "activation")
        if not held:
            from stethoscope.program.model_graph import with_layer

            return with_layer(setup, "Activation", {"activation": activation}, after=layer)
        for found in held:
            found["activation"] = activation
    return with_config(setup, config)


def with_head(setup: Setup, layer: str, units: int, activation: str) -> Setup:
    """A copy in which the last layer with units at or before `layer` has `units` and `activation`, and none is applied after it.

    Raises:
        CannotRun: no layer with units is found there.
    """
    from stethoscope.program.model_graph import after, before

    config = structure(setup)
    path = layer
    entry = layer_at(config, path)
    while not any(settings_with(entry, size) for size in _SIZES):
        path = before(config, path)
        entry = layer_at(config, path)
    for size in _SIZES:
        for found in settings_with(entry, size):
            found[size] = units
    later = after(config, path)
    follower = layer_at(config, later) if later else None
    for found in settings_with(entry, "activation"):
        found["activation"] = activation
    while follower is not None and follower["class_name"] in ACTIVATION_LAYERS:
        _as_activation(follower, LINEAR.name)
        later = after(config, later)
        follower = layer_at(config, later) if later else None
    return with_config(setup, config)


def with_initialisers(setup: Setup, layers: Sequence[str], kernel: str, bias: str) -> Setup:
    """A copy in which `layers` (every layer with a kernel when empty) draw new weights by these initialisers."""
    config = structure(setup)
    chosen = list(layers) or [path for path, entry in walk(config) if any(key in entry["config"] for key in _KERNELS)]
    for path in chosen:
        entry = layer_at(config, path)
        for _, inner in [("", entry), *(walk(entry) if is_model(entry) else ())]:
            for key, value in (*((key, kernel) for key in _KERNELS), ("recurrent_initializer", "orthogonal")):
                for found in settings_with(inner, key):
                    found[key] = value
            for found in settings_with(inner, "bias_initializer"):
                found["bias_initializer"] = bias
    return with_config(setup, config, chosen)


def with_bias_start(setup: Setup, layer: str, values: Sequence[float]) -> Setup:
    """A copy in which the bias of `layer` starts at `values`, whether weights are new or the file's.

    Raises:
        CannotRun: the layer has no bias.
    """
    config = structure(setup)
    held = settings_with(layer_at(config, layer), "bias_initializer")
    if not held or not values:
        raise CannotRun(f"Layer {layer!r}: expected a bias to start from, got a layer without one.")
    value: Any = float(values[0]) if len(values) == 1 else [float(item) for item in values]
    for found in held:
        found["bias_initializer"] = _object(config, "initializers", "Constant", {"value": value})
        found["use_bias"] = True
    changed = with_config(setup, config)
    if setup.weights is None:
        return changed
    import numpy as np

    weights = list(setup.weights)
    for place, owner in enumerate(setup.weight_layers):
        if owner == layer and weights[place].ndim == 1 and len(values) in (1, weights[place].shape[0]):
            weights[place] = np.full_like(weights[place], np.asarray(values))
    return changed.with_changes(weights=tuple(weights))


def unfrozen(setup: Setup, layers: Sequence[str]) -> Setup:
    """A copy in which `layers`, what is in them and the models around them are trainable."""
    config = structure(setup)
    if "trainable" in config["config"]:
        config["config"]["trainable"] = True
    for path, entry in walk(config):
        inside = any(path == layer or path.startswith(layer + "/") for layer in layers)
        around = any(layer.startswith(path + "/") for layer in layers)
        if inside or around:
            entry["config"]["trainable"] = True
    for path in layers:
        layer_at(config, path)
    return with_config(setup, config)


def with_input_shape(setup: Setup, name: str, shape: Sequence[int | None]) -> Setup:
    """A copy whose input `name` (the only one when "") declares `shape`, without rows.

    Raises:
        CannotRun: no such input.
    """
    config = structure(setup)
    batch = [None, *shape]
    inputs = [entry for entry in config["config"]["layers"] if entry["class_name"] == "InputLayer"]
    found = [entry for entry in inputs if name_of(entry) == name] or (inputs if len(inputs) == 1 else [])
    first = config["config"]["layers"][0]
    if not found and not inputs and config["class_name"] == "Sequential":
        found = [first]
    if not found:
        raise CannotRun(f"Input {name!r}: expected one of {[name_of(entry) for entry in inputs]}. Nothing was changed.")
    for entry in found:
        settings = entry["config"]
        settings["batch_shape" if "batch_shape" in settings else "batch_input_shape"] = list(batch)
        if entry["class_name"] != "InputLayer" and not ({"batch_shape", "batch_input_shape"} & set(first["config"])):
            settings.pop("batch_input_shape")
    if "build_input_shape" in config["config"]:
        config["config"]["build_input_shape"] = list(batch)
    return with_config(setup, config)


def with_kernel_penalty(setup: Setup, rate: float) -> Setup:
    """A copy in which every kernel has an L2 penalty of `rate`."""
    config = structure(setup)
    penalty = _object(config, "regularizers", "L2", {"l2": float(rate)})
    for _, entry in walk(config):
        for found in settings_with(entry, "kernel_regularizer"):
            found["kernel_regularizer"] = copy.deepcopy(penalty)
    return with_config(setup, config)


def _object(model: Entry, package: str, name: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """An initialiser or regulariser in the notation that the model's own layers are in."""
    found: dict[str, Any] = {"class_name": name, "config": dict(settings)}
    return {"module": f"keras.{package}", **found, "registered_name": None} if "module" in model else found


def _as_activation(entry: Entry, activation: str) -> None:
    kept = {key: entry["config"][key] for key in ("name", "trainable", "dtype") if key in entry["config"]}
    entry["class_name"] = "Activation"
    entry["config"] = {**kept, "activation": activation}
