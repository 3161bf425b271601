"""How a model is compiled: what the user says, else what the file says, else what its head and targets suggest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.architecture.losses import serialised, snake
from stethoscope.evidence.fit import FitSettings
from stethoscope.evidence.heads import heads_of
from stethoscope.types import Architecture

_OPTIMIZERS = {
    "sgd": ("SGD", 0.01),
    "rmsprop": ("RMSprop", 0.001),
    "adam": ("Adam", 0.001),
    "adamw": ("AdamW", 0.001),
    "adagrad": ("Adagrad", 0.001),
    "adadelta": ("Adadelta", 0.001),
    "adamax": ("Adamax", 0.001),
    "nadam": ("Nadam", 0.001),
    "ftrl": ("Ftrl", 0.001),
    "lion": ("Lion", 0.001),
}
"""Keras' class names and default rates."""


def outputs_in_order(model: Any, architecture: Architecture) -> list[str]:
    """Names of the outputs in the model's own order, spelled as the architecture spells them."""
    names = [spec.name for spec in architecture.outputs]
    own = [str(name) for name in getattr(model, "output_names", None) or []]
    return own if len(own) == len(names) and set(own) == set(names) else names


def named_loss(architecture: Architecture, fit: FitSettings, names: list[str], modern: bool) -> tuple[Any, ...]:
    """One loss per output, as named by the user or the file; None where neither says."""
    if fit.loss:
        loss = serialised(snake(fit.loss), bool(fit.from_logits)) if fit.from_logits else snake(fit.loss)
        return (loss,) * len(names)
    said = None if architecture.compile is None else architecture.compile.details.get("loss")
    if said is None and architecture.compile is not None:
        said = architecture.compile.loss
    found: list[Any] = []
    for index, name in enumerate(names):
        value = said
        if isinstance(said, Mapping) and "class_name" not in said:
            value = said.get(name)
        elif isinstance(said, list | tuple):
            value = (
                said[index] if index < len(said) and len(said) == len(names) else (said[0] if len(said) == 1 else None)
            )
        found.append(value)
    if fit.from_logits is not None:
        found = [value if value is None else _with_logits(value, fit.from_logits) for value in found]
    return tuple(found)


def _with_logits(value: Any, from_logits: bool) -> Any:
    if isinstance(value, Mapping) and value.get("class_name") != "function":
        return {**value, "config": {**(value.get("config") or {}), "from_logits": from_logits}}
    name = snake(str(value.get("config") if isinstance(value, Mapping) else value))
    return serialised(name, from_logits) if "crossentropy" in name else value


def assumed_loss(architecture: Architecture, index: int, y: npt.NDArray[Any]) -> tuple[Any, str]:
    """Returns a loss that fits one output and its targets, and the sentence that says so."""
    heads = heads_of(architecture, None, None)
    activation = heads[index].activation if index < len(heads) else "linear"
    units = (heads[index].units if index < len(heads) else None) or (y.shape[-1] if y.ndim > 1 else 1)
    single = y.ndim == 1 or y.shape[-1] == 1
    whole = y.dtype.kind in "iub" or bool(np.all(np.isfinite(y)) and np.all(np.mod(y, 1) == 0))
    logits = False
    if units > 1 and single and whole:
        name, logits = "sparse_categorical_crossentropy", activation != "softmax"
    elif units > 1 and activation == "softmax":
        name = "categorical_crossentropy"
    elif activation == "sigmoid":
        name = "binary_crossentropy"
    elif whole and len(np.unique(y[:5_000])) == 2 and set(np.unique(y[:5_000]).tolist()) == {0, 1}:
        one_hot = not single and bool(np.all(y[:5_000].sum(-1) == 1))
        name, logits = ("categorical_crossentropy" if one_hot else "binary_crossentropy"), activation == "linear"
    else:
        name = "mean_squared_error"
    value: Any = serialised(name, True) if logits else name
    shown = f"{name} on logits" if logits else name
    return (
        value,
        f"No loss was said: {shown}, which fits the last activation ({activation or 'unknown'}) and the targets.",
    )


def named_optimizer(
    architecture: Architecture, fit: FitSettings, modern: bool
) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """Returns {"class_name", "config"} with "learning_rate" in it, and a sentence when it was assumed."""
    said = architecture.compile.details.get("optimizer") if architecture.compile else None
    sentences: tuple[str, ...] = ()
    if fit.optimizer:
        name, rate = _OPTIMIZERS.get(fit.optimizer.lower(), (fit.optimizer, 0.001))
        config: dict[str, Any] = {"learning_rate": rate}
        if isinstance(said, Mapping) and str(said.get("class_name")).lower() == name.lower():
            config = dict(said.get("config") or {})
    elif isinstance(said, Mapping) and said.get("class_name"):
        name, rate = _OPTIMIZERS.get(str(said["class_name"]).lower(), (str(said["class_name"]), 0.001))
        config = dict(said.get("config") or {})
    else:
        name, rate, config = "Adam", 0.001, {"learning_rate": 0.001}
        if fit.learning_rate is None:
            sentences = ("No optimizer was said: Adam with a learning rate of 0.001.",)
        else:
            sentences = (f"No optimizer was said: Adam with the given learning rate {fit.learning_rate:g}.",)
    if "lr" in config and "learning_rate" not in config:
        config["learning_rate"] = config.pop("lr")
    if config.get("learning_rate") is None:
        config["learning_rate"] = rate
    if fit.learning_rate is not None:
        config["learning_rate"] = fit.learning_rate
    return {"class_name": name, "config": config}, sentences
