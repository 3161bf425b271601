"""Losses and optimizer of a training as live Keras objects. Worker only."""

from __future__ import annotations

import copy
import importlib
import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from stethoscope.errors import CannotRun
from stethoscope.framework_errors import gist
from stethoscope.program.setup import Setup
from stethoscope.training.model import package

_BASE_SETTINGS = (
    "name", "learning_rate", "weight_decay", "clipnorm", "clipvalue", "global_clipnorm", "use_ema", "ema_momentum",
    "ema_overwrite_frequency", "loss_scale_factor", "gradient_accumulation_steps", "jit_compile",
)  # fmt: skip


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
            found = keras.losses.get(value)
    except Exception as error:
        raise CannotRun(f"The loss {_shown(said)}: Keras cannot make it: {gist(error)}. Name another loss.") from error
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
    return repr(said.get("class_name") if isinstance(said, Mapping) else said)[:80]


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
            return keras.optimizers.deserialize({**setup.optimizer})
        except Exception as error:
            raise CannotRun(
                f"The optimizer {name!r}: Keras cannot make it: {gist(error)}. Name another one."
            ) from error
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
