"""What Keras calls losses and metrics, and what each loss reads: names in one notation, families.

What a layer's settings say about how its weights start.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_NAMES = {
    "mse": "mean_squared_error",
    "mae": "mean_absolute_error",
    "mape": "mean_absolute_percentage_error",
    "msle": "mean_squared_logarithmic_error",
    "rmse": "root_mean_squared_error",
    "bce": "binary_crossentropy",
    "cce": "categorical_crossentropy",
    "scce": "sparse_categorical_crossentropy",
    "kld": "kl_divergence",
    "kldivergence": "kl_divergence",
    "kullback_leibler_divergence": "kl_divergence",
    "logcosh": "log_cosh",
    "huber_loss": "huber",
    "cosine_proximity": "cosine_similarity",
    "acc": "accuracy",
}
_LOSS_CLASSES = {"kl_divergence": "KLDivergence", "log_cosh": "LogCosh", "binary_crossentropy": "BinaryCrossentropy"}
SPARSE_LOSSES = frozenset({"sparse_categorical_crossentropy"})
"""They read class numbers from 0, one for each row (or position) of the output."""
BINARY_LOSSES = frozenset({"binary_crossentropy", "binary_focal_crossentropy"})
"""They read a number from 0 to 1 for every unit, each unit a yes or no of its own."""
CATEGORICAL_LOSSES = frozenset({"categorical_crossentropy", "categorical_focal_crossentropy", "kl_divergence"})
"""They read rows that sum to 1, as wide as the output."""
HINGE_LOSSES = frozenset({"hinge", "squared_hinge"})
"""They read −1 and 1 (Keras turns 0 and 1 into these) and outputs without bounds, or tanh."""
PROBABILITY_LOSSES = SPARSE_LOSSES | BINARY_LOSSES | CATEGORICAL_LOSSES
"""They take the logarithm of the output: it has to be a probability, or they have to be told that it is a logit."""
ROW_LOSSES = CATEGORICAL_LOSSES | {"categorical_hinge"}
"""They compare the units of a row with each other: one class for each row."""
LOGITS_LOSSES = PROBABILITY_LOSSES - {"kl_divergence"}
"""They take from_logits."""
CLASSIFICATION_LOSSES = PROBABILITY_LOSSES | HINGE_LOSSES | ROW_LOSSES
REGRESSION_LOSSES = frozenset(
    {
        "mean_squared_error",
        "mean_absolute_error",
        "mean_absolute_percentage_error",
        "mean_squared_logarithmic_error",
        "root_mean_squared_error",
        "huber",
        "log_cosh",
        "poisson",
    }
)


def canonical_loss(value: Any) -> tuple[str, Mapping[str, Any]]:
    """Returns (snake_case name, config) of a loss as Keras names or serialises it."""
    if isinstance(value, Mapping):
        config = value.get("config")
        kind = str(value.get("class_name") or "")
        if kind == "function" and isinstance(config, str):
            return canonical_loss(config)
        settings = config if isinstance(config, Mapping) else {}
        if kind in ("LossFunctionWrapper", "MeanMetricWrapper") and settings.get("fn") is not None:
            return canonical_loss(settings["fn"])[0], settings
        return snake(kind), settings
    name = snake(str(value or ""))
    return _NAMES.get(name, name), {}


def snake(name: str) -> str:
    """SparseCategoricalCrossentropy as sparse_categorical_crossentropy; "MSE" as mean_squared_error."""
    name = name.rsplit(">", 1)[-1].rsplit(".", 1)[-1]
    if name.isupper():
        name = name.lower()
    out = "".join(
        "_" + letter.lower() if letter.isupper() and index and not name[index - 1].isupper() else letter.lower()
        for index, letter in enumerate(name)
    )
    out = out.replace("__", "_").replace("cross_entropy", "crossentropy")
    return _NAMES.get(out, out)


def loss_class(loss: str) -> str:
    """Keras' class of a loss by its snake_case name."""
    return _LOSS_CLASSES.get(loss) or "".join(part.capitalize() for part in loss.split("_"))


def serialised(loss: str, from_logits: bool) -> dict[str, Any]:
    """A loss by its snake_case name, as Keras serialises the class of that name."""
    return {"class_name": loss_class(loss), "config": {"from_logits": from_logits} if "crossentropy" in loss else {}}


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
