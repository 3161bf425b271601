"""Each output of a model beside its loss and its target: what must fit together. Derived from other evidence, nothing is run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from stethoscope.evidence.data import DataEvidence, TargetProfile
from stethoscope.evidence.fit import FitSettings
from stethoscope.types import Architecture, Layer, Shape

Task = Literal["binary", "multiclass", "multilabel", "regression", "unknown"]

_LOSSES = {
    "mse": "mean_squared_error",
    "mae": "mean_absolute_error",
    "mape": "mean_absolute_percentage_error",
    "msle": "mean_squared_logarithmic_error",
    "bce": "binary_crossentropy",
    "kld": "kl_divergence",
    "kullback_leibler_divergence": "kl_divergence",
    "logcosh": "log_cosh",
}
_WITHOUT_UNITS = (
    "Activation", "Softmax", "ReLU", "LeakyReLU", "ELU", "PReLU", "ThresholdedReLU", "Dropout", "Flatten", "Reshape",
    "GaussianNoise", "GaussianDropout", "AlphaDropout", "ActivityRegularization", "Rescaling", "Lambda",
)  # fmt: skip
"""Layers that may follow the last layer with units and belong to the same head."""
_ACTIVATION_LAYERS = {
    "Softmax": "softmax",
    "ReLU": "relu",
    "LeakyReLU": "leaky_relu",
    "ELU": "elu",
    "PReLU": "prelu",
    "ThresholdedReLU": "relu",
}
CLASSIFICATION_LOSSES = frozenset(
    {
        "binary_crossentropy",
        "binary_focal_crossentropy",
        "categorical_crossentropy",
        "categorical_focal_crossentropy",
        "sparse_categorical_crossentropy",
        "kl_divergence",
        "hinge",
        "squared_hinge",
        "categorical_hinge",
    }
)
REGRESSION_LOSSES = frozenset(
    {
        "mean_squared_error",
        "mean_absolute_error",
        "mean_absolute_percentage_error",
        "mean_squared_logarithmic_error",
        "huber",
        "log_cosh",
        "poisson",
    }
)


@dataclass(frozen=True)
class Head:
    """One output."""

    output: str
    layer: str
    """Path of the layer that yields the output; "" when unknown."""
    layer_type: str
    units_layer: str
    """Path of the last layer with units: the same layer, or the one before an Activation, Softmax, Reshape …"""
    units: int | None
    """Size of the output's last axis."""
    shape: Shape | None
    activation: str
    """The last activation that applies: "linear" without one, "" when unknown (subclassed model)."""
    activations: tuple[str, ...]
    """Every activation from the units layer to the output, in order, "linear" left out: ("relu", "softmax")."""
    loss: str
    """Canonical snake_case name; "" when it is not known."""
    from_logits: bool
    loss_said: bool
    """Whether the file or the user named the loss."""
    loss_config: Mapping[str, Any]
    metrics: tuple[str, ...]
    target: TargetProfile | None
    task: Task
    """What the targets (or, without data, loss and units) say the task is."""
    task_because: str


def canonical_loss(value: Any) -> tuple[str, Mapping[str, Any]]:
    """Returns (snake_case name, config) of a loss as Keras names or serialises it."""
    if isinstance(value, Mapping):
        config = value.get("config")
        kind = str(value.get("class_name") or "")
        if kind == "function" and isinstance(config, str):
            return canonical_loss(config)
        settings = config if isinstance(config, Mapping) else {}
        if kind == "LossFunctionWrapper" and settings.get("fn") is not None:
            return canonical_loss(settings["fn"])[0], settings
        return snake(kind), settings
    name = snake(str(value or ""))
    return _LOSSES.get(name, name), {}


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
    return _LOSSES.get(out, out)


def activation_of(layer: Layer) -> str:
    """The activation a layer applies, by Keras' lower-case name; "linear" when none."""
    if layer.type in _ACTIVATION_LAYERS:
        return _ACTIVATION_LAYERS[layer.type]
    value = layer.config.get("activation")
    if isinstance(value, Mapping):
        value = (
            value.get("config", {}).get("name") if value.get("class_name") == "function" else value.get("class_name")
        )
    return snake(str(value)) if value else "linear"


def heads_of(architecture: Architecture | None, fit: FitSettings | None, data: DataEvidence | None) -> tuple[Head, ...]:
    """Returns one `Head` for each output; empty without an architecture."""
    if architecture is None:
        return ()
    by_path = {layer.path: layer for layer in architecture.layers}
    ends = architecture.output_layers or tuple(
        spec.name if spec.name in by_path else "" for spec in architecture.outputs
    )
    names = [spec.name for spec in architecture.outputs]
    found = []
    for index, spec in enumerate(architecture.outputs):
        end = by_path.get(ends[index]) if index < len(ends) else None
        chain = _chain(end, by_path) if end is not None else []
        units_layer = chain[-1] if chain else end
        activations = tuple(name for name in (activation_of(layer) for layer in reversed(chain)) if name != "linear")
        loss, config, said = _loss(architecture, fit, index, spec.name, len(names))
        from_logits = bool(config.get("from_logits")) or bool(fit and fit.from_logits)
        target = None if data is None else data.targets.get(spec.name)
        shape = spec.shape
        units = shape[-1] if shape else None
        task, because = _task(target, loss, units, activations[-1] if activations else "linear")
        found.append(
            Head(
                output=spec.name,
                layer=end.path if end else "",
                layer_type=end.type if end else "",
                units_layer=units_layer.path if units_layer else "",
                units=units,
                shape=shape,
                activation=(activations[-1] if activations else "linear") if end else "",
                activations=activations,
                loss=loss,
                from_logits=from_logits,
                loss_said=said,
                loss_config=config,
                metrics=_metrics(architecture, fit, index, spec.name, len(names)),
                target=target,
                task=task,
                task_because=because,
            )
        )
    return tuple(found)


def _chain(end: Layer, by_path: Mapping[str, Layer]) -> list[Layer]:
    """The output layer and those before it that only change its values' form, back to the last one with units."""
    chain = [end]
    while chain[-1].type in _WITHOUT_UNITS and len(chain[-1].inputs) == 1 and len(chain) < 12:
        before = by_path.get(chain[-1].inputs[0])
        if before is None or before.type == "InputLayer":
            break
        chain.append(before)
    return chain


def _per_output(value: Any, index: int, name: str, count: int) -> Any:
    if isinstance(value, Mapping) and "class_name" not in value:
        return value.get(name)
    if isinstance(value, list | tuple):
        return value[index] if len(value) == count and index < len(value) else (value[0] if len(value) == 1 else None)
    return value


def _loss(
    architecture: Architecture, fit: FitSettings | None, index: int, name: str, count: int
) -> tuple[str, Mapping[str, Any], bool]:
    if fit is not None and fit.loss:
        return canonical_loss(fit.loss)[0], {}, True
    compiled = architecture.compile
    if compiled is None:
        return "", {}, False
    value = _per_output(compiled.details.get("loss") or compiled.loss, index, name, count)
    if value is None:
        return "", {}, False
    loss, config = canonical_loss(value)
    return loss, config, True


def _metrics(architecture: Architecture, fit: FitSettings | None, index: int, name: str, count: int) -> tuple[str, ...]:
    if fit is not None and fit.metrics:
        return tuple(snake(part.strip()) for part in fit.metrics.split(",") if part.strip())
    if architecture.compile is None:
        return ()
    return tuple(dict.fromkeys(_metric_names(architecture.compile.metrics, name, index, count)))


def _metric_names(value: Any, name: str, index: int, count: int) -> list[str]:
    if isinstance(value, str):
        return [snake(value)]
    if isinstance(value, Mapping):
        if "class_name" in value:
            settings = value.get("config")
            inner = settings.get("fn") if isinstance(settings, Mapping) else None
            return [snake(str(inner if isinstance(inner, str) else value["class_name"]))]
        return [found for key, item in value.items() if key == name for found in _metric_names(item, name, 0, 1)]
    if isinstance(value, list | tuple):
        nested = len(value) == count > 1 and all(isinstance(item, list | tuple) for item in value)
        items = [value[index]] if nested else value
        return [found for item in items for found in _metric_names(item, name, index, count)]
    return []


def _task(target: TargetProfile | None, loss: str, units: int | None, activation: str) -> tuple[Task, str]:
    """What is to be learned. Targets decide; a column of few whole numbers is a class only if head or loss treats it so."""
    if target is not None:
        if target.kind in ("one-hot", "distribution"):
            return "multiclass", "the targets are one-hot rows"
        if target.kind == "multi-hot":
            return "multilabel", "the targets' rows hold any number of ones"
        if target.kind == "binary":
            return "binary", "the targets take two values"
        if target.kind == "classes":
            classifies = loss in CLASSIFICATION_LOSSES or activation in ("softmax", "sigmoid")
            if classifies or (units is not None and units > 1 and target.array.shape[1:] in ((), (1,))):
                return "multiclass", f"the targets are {target.class_count} whole numbers"
            return "regression", "the targets are numbers and neither head nor loss treats them as classes"
        if target.kind == "continuous":
            return "regression", "the targets are real numbers"
        return "unknown", "the targets are not numbers"
    if loss in ("categorical_crossentropy", "sparse_categorical_crossentropy", "categorical_hinge"):
        return "multiclass", f"the loss is {loss}"
    if loss == "binary_crossentropy":
        return ("binary", f"the loss is {loss}") if units == 1 else ("multilabel", f"the loss is {loss}")
    if loss in REGRESSION_LOSSES and activation not in ("softmax", "sigmoid"):
        return "regression", f"the loss is {loss}"
    return "unknown", "there are no targets to tell from"
