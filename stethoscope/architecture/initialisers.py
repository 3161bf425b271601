"""What a layer's settings say about how its weights start."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stethoscope.architecture.losses import snake

_FIXED = {"random_normal": "stddev", "truncated_normal": "stddev"}
_SCALED = {
    "glorot_uniform": (1.0, "fan_avg"),
    "glorot_normal": (1.0, "fan_avg"),
    "he_uniform": (2.0, "fan_in"),
    "he_normal": (2.0, "fan_in"),
    "lecun_uniform": (1.0, "fan_in"),
    "lecun_normal": (1.0, "fan_in"),
}
TRUNCATED_VARIANCE = 0.7737
"""Variance of a standard normal cut at two deviations: 1 − 4 φ(2) / (2 Φ(2) − 1). Keras' TruncatedNormal does not undo it."""


def settings_of(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """The settings of a layer, or of the layer inside a wrapper (Bidirectional, TimeDistributed, RNN)."""
    for key in ("layer", "cell"):
        inner = config.get(key)
        if isinstance(inner, Mapping) and isinstance(inner.get("config"), Mapping):
            return settings_of(inner["config"])
    return config


def initialiser_of(config: Mapping[str, Any], name: str) -> tuple[str, Mapping[str, Any]]:
    """Returns (snake_case name, settings) of the initialiser of weight `name`; ("", {}) when it is not said."""
    value = settings_of(config).get(f"{name}_initializer")
    if isinstance(value, Mapping):
        settings = value.get("config")
        kind = value.get("class_name")
        if kind == "function" and isinstance(settings, str):
            return snake(settings), {}
        return snake(str(kind or "")), settings if isinstance(settings, Mapping) else {}
    return (snake(value), {}) if isinstance(value, str) else ("", {})


def is_scaled(kind: str) -> bool:
    """Whether an initialiser adapts to the number of inputs or outputs."""
    return kind in _SCALED or kind in ("variance_scaling", "orthogonal", "identity")


def configured_variance(config: Mapping[str, Any], name: str, fan_in: int | None, fan_out: int | None) -> float | None:
    """The variance that the initialiser of weight `name` draws with; None when it is unknown or not random.

    Source: Glorot and Bengio 2010 (2 / (fan_in + fan_out)), He et al. 2015 (2 / fan_in), LeCun et al. 1998 (1 / fan_in).
    """
    kind, settings = initialiser_of(config, name)
    if kind in _FIXED:
        deviation = _number(settings.get("stddev"), 0.05)
        return deviation**2 * (TRUNCATED_VARIANCE if kind == "truncated_normal" else 1.0)
    if kind == "random_uniform":
        low, high = _number(settings.get("minval"), -0.05), _number(settings.get("maxval"), 0.05)
        return (high - low) ** 2 / 12 + ((high + low) / 2) ** 2
    if fan_in is None or fan_out is None:
        return None
    scale, mode = _SCALED.get(kind, (0.0, ""))
    if kind == "variance_scaling":
        scale, mode = _number(settings.get("scale"), 1.0), str(settings.get("mode", "fan_in"))
    if not scale:
        return None
    across = {"fan_in": fan_in, "fan_out": fan_out}.get(mode, (fan_in + fan_out) / 2)
    return scale / max(1.0, float(across))


def _number(value: Any, default: float) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else default
