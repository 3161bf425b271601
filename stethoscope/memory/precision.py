"""The same model, with the same weights, computing under another dtype policy. Used in a worker.

A policy is part of every layer's configuration and cannot be changed on a live model: the layers hold tensors and
sublayers made under the old one. So the model is rebuilt from its configuration with the policies replaced, and the
weights are copied.

Source: keras.io/api/mixed_precision; tensorflow.org/guide/mixed_precision.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from stethoscope.errors import CannotRun
from stethoscope.framework_errors import explain, gist
from stethoscope.models.capabilities import LiveModel
from stethoscope.types import Feed, Refusal, Runner

AS_SAVED = "as saved"
_FLOATS = ("float64", "float32", "float16", "bfloat16", "mixed_float16", "mixed_bfloat16")
_NOT_LAYERS = ("InputLayer", "Cast", "__keras_tensor__", "__tensor__", "TFOpLambda", "SlicingOpLambda")
"""Whose "dtype" is that of a tensor: what an input holds, what a cast casts to."""
_POLICIES = ("DTypePolicy", "Policy", "DTypePolicyMap", "FloatDTypePolicy")


def with_precision(runner: Runner, precision: str) -> Runner:
    """Returns a runner whose layers have the dtype policy `precision`; the given one is left empty and must not be used.

    Inputs keep their dtypes (text and integers stay what they are; a layer casts float inputs to its own type).
    "mixed_float16" and "mixed_bfloat16" keep float32 variables; "float16" and "bfloat16" round the variables too.

    Raises:
        CannotRun: not a Keras model, a quantised one, or one that cannot be rebuilt from its configuration.
    """
    if precision == AS_SAVED:
        return runner
    live = runner.can(LiveModel)
    if isinstance(live, Refusal):
        raise CannotRun(
            f"Precision {precision}: expected a Keras model, got a file whose types are part of its graph. Use the .keras "
            "or .h5 file, or convert the file with the type wanted."
        )
    model, keras = live.model, live.keras
    try:
        twin = _rebuilt(model, keras, precision)
        _copy_weights(model, twin, precision)
    except CannotRun:
        raise
    except Exception as error:
        if explain(error) is not None:
            raise
        raise CannotRun(
            f"Precision {precision}: this model cannot be rebuilt under another dtype policy: {gist(error)}. Set the policy "
            "in the program that builds it."
        ) from error
    changed = live.replaced(twin)
    live.__exit__(None, None, None)
    return changed


def rebuilt_within(runner: Runner, scope: AbstractContextManager[Any]) -> Runner:
    """Returns a runner whose layers were made within `scope`, with new weights; the given one is left empty and must not be used.

    Raises:
        CannotRun: not a Keras model, or one that cannot be rebuilt from its configuration.
    """
    live = runner.can(LiveModel)
    if isinstance(live, Refusal):
        raise CannotRun("The model: expected a Keras model to build anew, got a finished graph. Use the .keras file.")
    try:
        with scope:
            twin = _rebuilt(live.model, live.keras, AS_SAVED)
    except CannotRun:
        raise
    except Exception as error:
        if explain(error) is not None:
            raise
        raise CannotRun(
            f"The model: it cannot be rebuilt from its configuration: {gist(error)}. Change the program that builds it."
        ) from error
    changed = live.replaced(twin)
    live.__exit__(None, None, None)
    return changed


def largest_difference(before: Feed, after: Feed) -> dict[str, float | None]:
    """max |before − after| for each output of numbers that both have; None where one is not finite."""
    found: dict[str, float | None] = {}
    for name, array in before.items():
        other = after.get(name)
        if other is None or other.shape != array.shape or array.dtype.kind not in "fiub":
            continue
        gap = np.abs(array.astype(np.float64) - other.astype(np.float64))
        largest = float(gap.max()) if gap.size else 0.0
        found[name] = largest if np.isfinite(largest) else None
    return found


def _rebuilt(model: Any, keras: Any, precision: str) -> Any:
    described = keras.saving.serialize_keras_object(model)
    described.pop("compile_config", None)
    changed = described if precision == AS_SAVED else with_policy(described, precision)
    own = {type(layer).__name__: type(layer) for layer in _own_layers(model)}
    with keras.saving.custom_object_scope(own):
        twin = keras.saving.deserialize_keras_object(changed, safe_mode=False)
    if len(twin.weights) != len(model.weights):
        _build(model, twin)
    return twin


def with_policy(described: Any, precision: str) -> Any:
    """A serialised Keras object with every layer's floating dtype policy replaced.

    Raises:
        CannotRun: a layer is quantised.
    """
    if isinstance(described, list | tuple):
        return [with_policy(item, precision) for item in described]
    if not isinstance(described, dict):
        return described
    kind, config = described.get("class_name"), described.get("config")
    if kind in _POLICIES or kind in ("__keras_tensor__", "__tensor__"):
        return described
    changed = {key: _changed(key, item, precision) for key, item in described.items()}
    operation = str(described.get("module") or "").startswith("keras.src.ops") or kind in _NOT_LAYERS
    if isinstance(kind, str) and isinstance(config, dict) and "dtype" in config:
        name = _policy_name(config["dtype"])
        if "_from_" in name:
            raise CannotRun(
                f"Precision {precision}: layer {config.get('name')!r} is quantised ({name}); its policy is not replaced. "
                "Use the model as it was before quantisation."
            )
        changed["config"]["dtype"] = config["dtype"] if operation or name not in _FLOATS else precision
    return changed


def _changed(key: str, item: Any, precision: str) -> Any:
    if key == "build_config":
        return item
    # Every weight is overwritten, and not every initialiser can compute in every type (orthogonal in bfloat16).
    return "zeros" if key.endswith("_initializer") and item else with_policy(item, precision)


def _policy_name(dtype: Any) -> str:
    if isinstance(dtype, dict):
        config = dtype.get("config") or {}
        if "source_name" in config:
            return f"{config.get('mode')}_from_{config['source_name']}"
        inner = config.get("name") or config.get("default_policy") or ""
        return _policy_name(inner)
    return str(dtype)


def _own_layers(model: Any) -> list[Any]:
    """The live model's layers of classes that come with no Keras: their classes are here, whatever they were registered as."""
    return [
        layer
        for layer in [*model._flatten_layers()]
        if type(layer).__module__.split(".")[0] not in ("keras", "tf_keras")
    ]


def _build(model: Any, twin: Any) -> None:
    """A subclassed model makes its weights when it is first called."""
    import tensorflow as tf

    shapes = [tf.zeros([size or 1 for size in tensor.shape], tensor.dtype) for tensor in model.inputs or ()]
    if shapes:
        twin(shapes[0] if len(shapes) == 1 else shapes)


def _copy_weights(model: Any, twin: Any, precision: str) -> None:
    old, new = list(model.weights), list(twin.weights)
    if [tuple(weight.shape) for weight in old] != [tuple(weight.shape) for weight in new]:
        raise CannotRun(
            f"Precision {precision}: expected the rebuilt model to have the same {len(old)} weights, got {len(new)} of "
            "other shapes. Set the policy in the program that builds it."
        )
    for source, target in zip(old, new, strict=True):
        target.assign(np.asarray(source).astype(np.float32) if _is_float(source) else np.asarray(source))


def _is_float(weight: Any) -> bool:
    return "float" in str(getattr(weight.dtype, "name", weight.dtype))
