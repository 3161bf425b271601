"""Losses and optimizer of a training as live Keras objects. Worker only.

How a model is compiled: what the user says, else what the file says, else what its head and targets suggest.
"""

from __future__ import annotations

import copy
import importlib
import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.architecture.activations import LINEAR, SIGMOID, SOFTMAX
from stethoscope.architecture.losses import serialised, snake
from stethoscope.errors import CannotRun
from stethoscope.evidence.fit import FitSettings
from stethoscope.evidence.heads import heads_of
from stethoscope.framework_errors import gist
from stethoscope.program.setup import Setup
from stethoscope.training.model import package
from stethoscope.types import Architecture

_BASE_SETTINGS = (
    "name",
    "learning_rate",
    "weight_decay",
    "clipnorm",
    "clipvalue",
    "global_clipnorm",
    "use_ema",
    "ema_momentum",
    "ema_overwrite_frequency",
    "loss_scale_factor",
    "gradient_accumulation_steps",
    "jit_compile",
)


def live_losses(setup: Setup) -> list[Any]:
    """One `keras.losses.Loss` per output, as `compile` makes it; None for an output without one.

    Raises:
        CannotRun: Keras knows no such loss.
    """
    return [None if loss is None else _loss(setup.modern, loss) for loss in setup.losses]


def _loss(modern: bool, said: Any) -> Any:
    keras = package(modern)
    value = copy.deepcopy(dict(said)) if isinstance(said, Mapping) else said
    try:
        if isinstance(value, dict) and value.get("class_name") == "function" and isinstance(value.get("config"), str):
            value = value["config"]
        if isinstance(value, dict) and "module" not in value and hasattr(keras.losses, str(value.get("class_name"))):
            found = getattr(keras.losses, value["class_name"]).from_config(_known(keras, value))
        else:
            own = keras.saving.get_registered_object(value) if isinstance(value, str) else None
            found = own() if isinstance(own, type) else own or keras.losses.get(value)
    except Exception as error:
        raise CannotRun(
            f"The loss {_shown(said)}: Keras cannot make it: {gist(error)}. Name another loss, or give the Python file that defines it."
        ) from error
    if found is None or isinstance(found, keras.losses.Loss):
        return found
    # What `compile` wraps a function in: it brings targets and predictions to one rank before the function sees them.
    wrapper = importlib.import_module(f"{keras.__name__}.src.losses{'.losses' if modern else ''}").LossFunctionWrapper
    return wrapper(found, name=getattr(found, "__name__", "loss"))


def _known(keras: Any, value: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a serialised loss that its class still takes."""
    taken = inspect.signature(getattr(keras.losses, value["class_name"]).__init__).parameters
    settings = {key: item for key, item in (value.get("config") or {}).items() if key in taken and key != "fn"}
    if settings.get("reduction") == "auto" and keras.__name__ == "keras":
        del settings["reduction"]
    return settings


def _shown(said: Any) -> str:
    """Its name; that of a function stands where a class has its settings."""
    if not isinstance(said, Mapping):
        return repr(said)[:80]
    named = said.get("config") if said.get("class_name") == "function" else None
    return repr(named if isinstance(named, str) else said.get("class_name"))[:80]


def live_optimizer(setup: Setup) -> Any:
    """The optimizer as its serialised configuration says.

    Raises:
        CannotRun: Keras knows no such optimizer or setting.
    """
    keras = package(setup.modern)
    name, settings = str(setup.optimizer.get("class_name")), copy.deepcopy(dict(setup.optimizer.get("config") or {}))
    name = name.rsplit(">", 1)[-1]
    if not setup.modern and (settings.get("decay") or settings.get("is_legacy_optimizer")):
        settings.pop("is_legacy_optimizer", None)
        legacy = getattr(keras.optimizers.legacy, _spelled(keras.optimizers.legacy, name), None)
        if legacy is not None:
            return legacy.from_config(settings)
    kind = getattr(keras.optimizers, _spelled(keras.optimizers, name), None)
    if kind is None:
        try:
            made = keras.optimizers.deserialize({**setup.optimizer})
        except Exception as error:
            raise CannotRun(
                f"The optimizer {name!r}: Keras cannot make it: {gist(error)}. Name another one."
            ) from error
        # A name that Keras has no class for comes back as it was.
        if isinstance(made, str):
            raise CannotRun(f"The optimizer {name!r}: Keras knows none of this name. Name another one.")
        return made
    taken = {*inspect.signature(kind.__init__).parameters, *_BASE_SETTINGS} - {"self", "kwargs"}
    settings = {key: item for key, item in settings.items() if key in taken}
    if setup.modern:
        settings.pop("jit_compile", None)
    else:
        settings["jit_compile"] = False
        settings.pop("loss_scale_factor", None)
        settings.pop("gradient_accumulation_steps", None)
    try:
        return kind.from_config(settings)
    except Exception as error:
        raise CannotRun(f"The optimizer {name!r}: Keras cannot make it: {gist(error)}. Name another one.") from error


def _spelled(module: Any, name: str) -> str:
    """The class' own spelling: "adam" is Adam, "rmsprop" RMSprop."""
    names = {key.lower(): key for key in dir(module) if isinstance(getattr(module, key), type)}
    return names.get(name.lower(), name)


def build_optimizer(optimizer: Any, variables: Sequence[Any]) -> list[Any]:
    """Makes the optimizer's slots before anything is traced; returns everything it keeps, its learning rate apart."""
    if not variables:
        return []
    if hasattr(optimizer, "build"):
        optimizer.build(list(variables))
    else:
        optimizer._create_all_weights(list(variables))
    kept = optimizer.variables
    kept = list(kept() if callable(kept) else kept)
    rate = getattr(optimizer, "_learning_rate", None)
    return [variable for variable in kept if variable is not rate]


def set_rate(optimizer: Any, setup: Setup) -> None:
    """Gives a traced optimizer the setup's constant learning rate; a schedule stays as it is."""
    if setup.learning_rate is not None:
        optimizer.learning_rate = setup.learning_rate


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


def named_loss(architecture: Architecture, fit: FitSettings, names: Sequence[str]) -> tuple[Any, ...]:
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


def losses_of_targets(
    architecture: Architecture, fit: FitSettings, names: Sequence[str], targets: Mapping[str, npt.NDArray[Any]]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The loss of each output that has targets, in the order of the targets, and a sentence for each that was assumed.

    Losses are assumed where nobody named one for any of these outputs; where some are named, the others have none: they are
    not trained on.

    Args:
        architecture: whose last activations say which loss fits.
        fit: what the user says.
        names: all outputs, in the order in which the file lists losses.
        targets: arrays (rows, ...) by output.
    """
    named = dict(zip(names, named_loss(architecture, fit, names), strict=True))
    if any(named[name] is not None for name in targets):
        return {name: named[name] for name in targets}, ()
    places = {spec.name: place for place, spec in enumerate(architecture.outputs)}
    assumed = {name: assumed_loss(architecture, places[name], array) for name, array in targets.items()}
    return {name: loss for name, (loss, _) in assumed.items()}, tuple(sentence for _, sentence in assumed.values())


def assumed_loss(architecture: Architecture, index: int, y: npt.NDArray[Any]) -> tuple[Any, str]:
    """Returns a loss that fits one output and its targets, and the sentence that says so."""
    heads = heads_of(architecture, None, None)
    activation = heads[index].activation if index < len(heads) else LINEAR.name
    units = (heads[index].units if index < len(heads) else None) or (y.shape[-1] if y.ndim > 1 else 1)
    single = y.ndim == 1 or y.shape[-1] == 1
    whole = y.dtype.kind in "iub" or bool(np.all(np.isfinite(y)) and np.all(np.mod(y, 1) == 0))
    logits = False
    if units > 1 and single and whole:
        name, logits = "sparse_categorical_crossentropy", activation != SOFTMAX.name
    elif units > 1 and activation == SOFTMAX.name:
        name = "categorical_crossentropy"
    elif activation == SIGMOID.name:
        name = "binary_crossentropy"
    elif whole and len(np.unique(y[:5_000])) == 2 and set(np.unique(y[:5_000]).tolist()) == {0, 1}:
        one_hot = not single and bool(np.all(y[:5_000].sum(-1) == 1))
        name, logits = ("categorical_crossentropy" if one_hot else "binary_crossentropy"), activation == LINEAR.name
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
