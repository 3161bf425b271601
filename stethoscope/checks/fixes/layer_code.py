"""Layers, values, `compile` and `fit` as Python source: what fixes print."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

from stethoscope.architecture.losses import LOGITS_LOSSES, loss_class

_POSITIONAL = {
    "Dense": ("units",),
    "EinsumDense": ("equation", "output_shape"),
    "Embedding": ("input_dim", "output_dim"),
    "LSTM": ("units",),
    "GRU": ("units",),
    "SimpleRNN": ("units",),
    "Dropout": ("rate",),
    "SpatialDropout1D": ("rate",),
    "SpatialDropout2D": ("rate",),
    "Activation": ("activation",),
    "Reshape": ("target_shape",),
    **{
        f"{kind}{rank}D{transposed}": ("filters", "kernel_size")
        for kind in ("Conv", "SeparableConv")
        for rank in (1, 2, 3)
        for transposed in ("", "Transpose")
    },
}
_DEFAULTS: dict[str, tuple[Any, ...]] = {
    "activation": ("linear",),
    "recurrent_activation": ("sigmoid",),
    "use_bias": (True,),
    "trainable": (True,),
    "padding": ("valid",),
    "strides": (1, [1], [1, 1], [1, 1, 1]),
    "dilation_rate": (1, [1], [1, 1], [1, 1, 1]),
    "groups": (1,),
    "data_format": ("channels_last",),
    "dtype": ("float32",),
    "return_sequences": (False,),
    "return_state": (False,),
    "go_backwards": (False,),
    "stateful": (False,),
    "unroll": (False,),
    "time_major": (False,),
    "zero_output_for_mask": (False,),
    "unit_forget_bias": (True,),
    "reset_after": (True,),
    "use_cudnn": ("auto",),
    "implementation": (1, 2),
    "dropout": (0, 0.0),
    "recurrent_dropout": (0, 0.0),
    "sparse": (False,),
    "ragged": (False,),
    "mask_zero": (False,),
    "scale": (True,),
    "center": (True,),
    "synchronized": (False,),
}
_INITIALISERS = {
    "kernel_initializer": "GlorotUniform",
    "recurrent_initializer": "Orthogonal",
    "bias_initializer": "Zeros",
    "embeddings_initializer": "RandomUniform",
    "depthwise_initializer": "GlorotUniform",
    "pointwise_initializer": "GlorotUniform",
}
_OBJECTS = {
    "_initializer": "keras.initializers",
    "_regularizer": "keras.regularizers",
    "_constraint": "keras.constraints",
}
_BOOKKEEPING = frozenset(
    {
        "name",
        "batch_input_shape",
        "batch_shape",
        "quantization_config",
        "lora_rank",
        "lora_alpha",
        "seed",
        "noise_shape",
    }
)


def last_name(path: str) -> str:
    """A layer's own name, without those of the models around it."""
    return path.rsplit("/", 1)[-1]


def located(path: str) -> str:
    """The expression that finds a layer in `model`, through the models around it."""
    return "model" + "".join(f".get_layer({literal(name)})" for name in path.split("/"))


def listed(names: Iterable[str], limit: int = 3) -> str:
    """Names for a sentence: "a, b and 4 more"."""
    found = list(names)
    if len(found) > limit + 1:
        return f"{', '.join(found[:limit])} and {len(found) - limit} more"
    return " and ".join([", ".join(found[:-1]), found[-1]]) if len(found) > 1 else "".join(found)


def number(value: float) -> str:
    """A number as a person would write it: 0.001, 32, 2.5."""
    return f"{value:.6g}"


def literal(value: Any) -> str:
    """Python source of a plain value, strings in double quotes."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, float):
        return f'float("{value}")' if not math.isfinite(value) else number(value)
    if isinstance(value, list | tuple):
        inner = ", ".join(literal(item) for item in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{literal(key)}: {literal(item)}" for key, item in value.items()) + "}"
    return repr(value)


def comment(text: str) -> str:
    """One comment line; a name with a line break in it cannot leave the comment."""
    return "# " + " ".join(text.split())


def layer_line(layer_type: str, path: str, settings: Mapping[str, Any]) -> str | None:
    """The line that makes a layer, without settings that are Keras' defaults; None when a setting cannot be written so.

    Args:
        layer_type: Keras' class name.
        path: the layer's path; its last part becomes `name`.
        settings: its config, as Keras serialises it or as `Layer.config` holds it.
    """
    first = _POSITIONAL.get(layer_type, ())
    if not layer_type.isidentifier() or any(name not in settings for name in first):
        return None
    parts = [_value(name, settings[name]) for name in first]
    for name, value in settings.items():
        if name in first or name in _BOOKKEEPING or value is None or not name.isidentifier():
            continue
        if _is_default(name, value):
            continue
        text = _value(name, value)
        parts.append(None if text is None else f"{name}={text}")
    if any(part is None for part in parts):
        return None
    arguments = [part for part in parts if part is not None]
    return f"layers.{layer_type}({', '.join([*arguments, f'name={literal(last_name(path))}'])})"


def rebuilt(paths: Iterable[str], changes: Mapping[str, str]) -> str:
    """Lines that make the model anew with settings of some layers changed; for layers whose own line is not known.

    Args:
        paths: the layers.
        changes: Python source by setting.
    """
    names = literal(sorted({last_name(path) for path in paths}))
    lines = [
        comment("after the model is built, before model.compile: the same model with these settings changed"),
        "def changed(layer):",
        "    settings = layer.get_config()",
        f"    if layer.name in {names}:",
        *(f"        settings[{literal(name)}] = {source}" for name, source in changes.items()),
        "    return type(layer).from_config(settings)",
        "",
        "model = keras.models.clone_model(model, clone_function=changed)",
    ]
    return "\n".join(lines)


def _is_default(name: str, value: Any) -> bool:
    if isinstance(value, tuple):
        value = list(value)
    if name in _INITIALISERS and isinstance(value, Mapping):
        return str(value.get("class_name")) == _INITIALISERS[name]
    return any(value == default and type(value) is type(default) for default in _DEFAULTS.get(name, ()))


def _value(name: str, value: Any) -> str | None:
    if not isinstance(value, Mapping):
        return literal(value)
    kind, config = value.get("class_name"), value.get("config")
    if kind == "function" and isinstance(config, str):
        return literal(config)
    if not isinstance(kind, str) or not kind.isidentifier() or not isinstance(config, Mapping):
        return None
    place = next((module for suffix, module in _OBJECTS.items() if name.endswith(suffix)), None)
    if place is None:
        return None
    inside = {key: item for key, item in config.items() if item is not None and key != "name"}
    if any(isinstance(item, Mapping) or not key.isidentifier() for key, item in inside.items()):
        return None
    return f"{place}.{kind}({', '.join(f'{key}={literal(item)}' for key, item in inside.items())})"


_OPTIMIZERS = {
    name.lower(): name
    for name in (
        "SGD",
        "RMSprop",
        "Adam",
        "AdamW",
        "Adadelta",
        "Adagrad",
        "Adamax",
        "Nadam",
        "Ftrl",
        "Lion",
        "Adafactor",
    )
}


def loss_source(loss: str, from_logits: bool = False) -> str:
    """The loss argument: its name, or the object that reads logits."""
    if from_logits and loss in LOGITS_LOSSES:
        return f"keras.losses.{loss_class(loss)}(from_logits=True)"
    return literal(loss)


def metric_for(loss: str) -> str:
    """A metric that people read beside this loss."""
    return "accuracy" if "crossentropy" in loss or "hinge" in loss or loss == "kl_divergence" else "mae"


def compile_line(*, loss: str, output: str = "", loss_name: str = "") -> str:
    """`model.compile` with another loss, the optimizer kept. `loss` is Python source."""
    where = comment(f"the loss of the output {output}" if output else "in place of your model.compile line")
    metric = literal(metric_for(loss_name))
    return f"{where}\nmodel.compile(optimizer=model.optimizer, loss={loss}, metrics=[{metric}])"


def optimizer_class(name: str) -> str:
    """Keras' class name of an optimizer, however it was written."""
    return _OPTIMIZERS.get(name.lower().replace("_", ""), name)


def optimizer_line(optimizer: str, learning_rate: float | None, **settings: float) -> str:
    """`model.compile` with another optimizer, the loss kept."""
    given = {"learning_rate": learning_rate, **settings}
    arguments = ", ".join(f"{name}={number(value)}" for name, value in given.items() if value is not None)
    where = comment("in place of your model.compile line; keep your metrics=")
    made = f"keras.optimizers.{optimizer_class(optimizer)}({arguments})"
    return f"{where}\nmodel.compile(optimizer={made}, loss=model.loss)"


def fit_line(**arguments: str) -> str:
    """`model.fit` with changed arguments, given as Python source."""
    where = comment("in place of your model.fit line; keep your other arguments")
    given = ", ".join(f"{name}={value}" for name, value in arguments.items())
    return f"{where}\nmodel.fit(x, y, {given})"
