"""Changes to a serialised model that take one suspect away and leave its weights as they are. Standard library only."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

BATCH_NORMALISATION = frozenset({"BatchNormalization", "BatchNormalizationV1", "BatchNormalizationV2"})
_RATES = {
    "Dropout": ("rate",),
    "SpatialDropout1D": ("rate",),
    "SpatialDropout2D": ("rate",),
    "SpatialDropout3D": ("rate",),
    "AlphaDropout": ("rate",),
    "GaussianDropout": ("rate",),
    "GaussianNoise": ("stddev",),
    "MultiHeadAttention": ("dropout",),
    "GroupQueryAttention": ("dropout",),
    "Attention": ("dropout",),
    "AdditiveAttention": ("dropout",),
    "LSTM": ("dropout", "recurrent_dropout"),
    "GRU": ("dropout", "recurrent_dropout"),
    "SimpleRNN": ("dropout", "recurrent_dropout"),
    "LSTMCell": ("dropout", "recurrent_dropout"),
    "GRUCell": ("dropout", "recurrent_dropout"),
    "SimpleRNNCell": ("dropout", "recurrent_dropout"),
    "ConvLSTM1D": ("dropout", "recurrent_dropout"),
    "ConvLSTM2D": ("dropout", "recurrent_dropout"),
    "ConvLSTM3D": ("dropout", "recurrent_dropout"),
}
"""Settings of random layers that are 0 where nothing is random."""


def unsynchronised(config: Any) -> list[str]:
    """Names of the batch normalisations that look at one replica's rows only, nested models included."""
    return [
        str(settings.get("name", kind))
        for kind, settings in _layers(config)
        if kind in BATCH_NORMALISATION and not settings.get("synchronized") and settings.get("trainable", True)
    ]


def random_layers(config: Any) -> list[str]:
    """Names of the layers that draw random numbers in training."""
    return [
        str(settings.get("name", kind))
        for kind, settings in _layers(config)
        if any(settings.get(name) for name in _RATES.get(kind, ()))
    ]


def synchronised(config: dict[str, Any]) -> dict[str, Any]:
    """A copy in which every batch normalisation computes its statistics over all replicas."""
    changed = copy.deepcopy(config)
    for kind, settings in _layers(changed):
        if kind in BATCH_NORMALISATION:
            settings["synchronized"] = True
    return changed


def without_randomness(config: dict[str, Any]) -> dict[str, Any]:
    """A copy in which nothing is drawn at random."""
    changed = copy.deepcopy(config)
    for kind, settings in _layers(changed):
        for name in _RATES.get(kind, ()):
            if settings.get(name):
                settings[name] = 0.0
    return changed


def _layers(config: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """(class name, settings) of every serialised object within, outermost first."""
    if isinstance(config, dict):
        settings = config.get("config")
        if isinstance(config.get("class_name"), str) and isinstance(settings, dict):
            yield config["class_name"].rsplit(">", 1)[-1], settings
        for value in config.values():
            yield from _layers(value)
    elif isinstance(config, list | tuple):
        for value in config:
            yield from _layers(value)
