"""What the recorder asks of a model while Keras 3 or tf_keras trains it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.logs.evidence.tags import WEIGHTS, of_layer
from stethoscope.training.instruments import owners
from stethoscope.training.model import package
from stethoscope.training.recording.event_writer import histogram


def package_of(model: Any) -> Any:
    """The package the model is of: keras or tf_keras."""
    return package(not any(kind.__module__.split(".")[0] == "tf_keras" for kind in type(model).__mro__))


def trains_on_tensorflow(model: Any) -> bool:
    """Whether Keras runs on TensorFlow; with other backends a train function is called in other ways."""
    backend = getattr(getattr(package_of(model), "config", None), "backend", None)
    return backend is None or backend() == "tensorflow"


def replicas(model: Any) -> int:
    """On how many devices a step is made at once."""
    return int(getattr(getattr(model, "distribute_strategy", None), "num_replicas_in_sync", 1))


def writes_summaries(model: Any) -> bool:
    """Whether this process is the one that writes logs, where several machines train one model."""
    extended = getattr(getattr(model, "distribute_strategy", None), "extended", None)
    return bool(getattr(extended, "should_save_summary", True))


def numbers(logs: Mapping[str, Any] | None) -> dict[str, float]:
    """The single numbers among a step's or epoch's logs; a step of one's own may hand back anything."""
    found = {}
    for name, value in dict(logs or {}).items():
        if isinstance(value, Mapping | list | tuple):
            continue
        array = _array(value)
        if array.ndim == 0 and (array.dtype.kind in "biuf" or array.dtype.name == "bfloat16"):
            found[str(name)] = float(array)
    return found


def steps_done(model: Any) -> int:
    """Training steps the model's optimizer has made so far."""
    optimizer = getattr(model, "optimizer", None)
    if optimizer is None:
        return 0
    # With gradients accumulated over steps, Keras counts updates.
    steps_each = getattr(optimizer, "gradient_accumulation_steps", None) or 1
    return int(_array(optimizer.iterations)) * int(steps_each)


def steps_per_call(model: Any) -> int:
    """Steps that one call of the train function makes."""
    found = getattr(model, "steps_per_execution", None)
    if found is None:
        found = getattr(model, "_steps_per_execution", None)
    return 1 if found is None else max(1, int(_array(found)))


def learning_rate(model: Any) -> float | None:
    """The optimizer's rate at its present step; None without one."""
    optimizer = getattr(model, "optimizer", None)
    rate = getattr(optimizer, "learning_rate", None)
    if optimizer is None or rate is None:
        return None
    return float(_array(rate(optimizer.iterations) if callable(rate) else rate))


def logs_are_means(model: Any) -> bool:
    """Whether a step's loss is the mean over the epoch so far, as Keras' own step reports it."""
    return type(model).train_step.__module__.split(".")[0] in ("keras", "tf_keras")


def wait_for_device(model: Any) -> None:
    """Returns once the device has done what it was given; reads the smallest weight for that."""
    variables = model.trainable_variables
    if variables:
        _array(min(variables, key=lambda variable: int(np.prod(variable.shape))))


def weight_histograms(model: Any) -> dict[str, npt.NDArray[np.float64]]:
    """Histograms of each layer's own trainable weights, by tag."""
    found = {}
    for path, layer in owners(package_of(model), model):
        variables = [variable for variable in layer.trainable_variables if len(variable.shape)]
        if variables and not getattr(layer, "layers", None):
            values = np.concatenate([_array(variable).astype(np.float32).ravel() for variable in variables])
            found[of_layer(WEIGHTS, path)] = histogram(values)
    return found


def _array(value: Any) -> npt.NDArray[Any]:
    """A variable, a tensor or a number. A variable that several devices mirror has `numpy`, and NumPy cannot take it itself."""
    if callable(getattr(value, "detach", None)):  # PyTorch's tensors keep to their device
        value = value.detach().cpu()
    numpy = getattr(value, "numpy", None)
    return np.asarray(numpy() if callable(numpy) else value)


def is_end_of_data(error: Exception) -> bool:
    """Whether an error is how an iterator says that there are no more batches."""
    import tensorflow as tf

    return isinstance(error, StopIteration | tf.errors.OutOfRangeError)
