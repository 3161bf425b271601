"""What a Keras file says about training: loss, optimizer, learning rate and metrics, in every layout Keras has used."""

from __future__ import annotations

from typing import Any

from stethoscope.models.formats.keras_model.keras_layer_config import readable_config
from stethoscope.types import CompileSettings

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
    "RMSprop": 0.001,
    "Adam": 0.001,
    "AdamW": 0.001,
    "Adagrad": 0.001,
    "Adadelta": 0.001,
    "Adamax": 0.001,
    "Nadam": 0.001,
    "Ftrl": 0.001,
    "Lion": 0.001,
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
