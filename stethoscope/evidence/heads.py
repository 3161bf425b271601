"""Each output of a model beside its loss and its target: what must fit together. Derived from other evidence, nothing is run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from stethoscope.architecture.activations import LINEAR, PROBABILITIES, RANGES, SOFTMAX
from stethoscope.architecture.endings import activation_of, ending_of
from stethoscope.architecture.losses import (
    BINARY_LOSSES,
    CLASSIFICATION_LOSSES,
    REGRESSION_LOSSES,
    SPARSE_LOSSES,
    canonical_loss,
    snake,
)
from stethoscope.data.study.profiles import DataEvidence, TargetProfile
from stethoscope.evidence.fit import FitSettings
from stethoscope.types import Architecture, Shape

__all__ = [
    "CLASSIFICATION_LOSSES",
    "REGRESSION_LOSSES",
    "Head",
    "Task",
    "activation_of",
    "canonical_loss",
    "heads_of",
    "snake",
]

Task = Literal["binary", "multiclass", "multilabel", "regression", "unknown"]


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
    activation_sizes: tuple[int | None, ...] = ()
    """For each of `activations`, the size of the axis it runs over: the units under a softmax."""
    moved: bool = False
    """Whether a layer stands between the last activation and the output, so that Keras' losses cannot look behind it."""
    rebuilds: str = ""
    """The input whose shape the targets have: an autoencoder, denoiser or other map of an input onto itself."""

    @property
    def softmax_units(self) -> int | None:
        """How many values the last softmax normalises over; None without one."""
        sizes = [
            size for name, size in zip(self.activations, self.activation_sizes, strict=False) if name == SOFTMAX.name
        ]
        return (sizes[-1] or 0) if sizes else None

    @property
    def range(self) -> tuple[float, float] | None:
        """Smallest and largest value the output can take, from its last activation; None when it has no bounds or is unknown."""
        return RANGES.get(self.activation)

    @property
    def row_shape(self) -> Shape | None:
        """The output's shape without its rows."""
        return None if self.shape is None else self.shape[1:]


def heads_of(architecture: Architecture | None, fit: FitSettings | None, data: DataEvidence | None) -> tuple[Head, ...]:
    """Returns one `Head` for each output; empty without an architecture."""
    if architecture is None:
        return ()
    names = [spec.name for spec in architecture.outputs]
    found = []
    for index, spec in enumerate(architecture.outputs):
        ending = ending_of(architecture, index, spec)
        end, made = ending.layer, ending.units_layer
        activations = tuple(name for name, _ in ending.applied)
        activation = (activations[-1] if activations else LINEAR.name) if ending.known else ""
        loss, config, said = _loss(architecture, fit, index, spec.name, len(names))
        from_logits = bool(config.get("from_logits"))
        if fit is not None and fit.from_logits is not None:
            from_logits = fit.from_logits
        target = None if data is None else data.targets.get(spec.name)
        rebuilds = "" if target is None or data is None else _rebuilt(target, data, architecture)
        units = spec.shape[-1] if spec.shape else None
        task, because = _task(target, loss, units, activation, rebuilds)
        found.append(
            Head(
                output=spec.name,
                layer=end.path if end else "",
                layer_type=end.type if end else "",
                units_layer=made.path if made else "",
                units=units,
                shape=spec.shape,
                activation=activation,
                activations=activations,
                loss=loss,
                from_logits=from_logits,
                loss_said=said,
                loss_config=config,
                metrics=_metrics(architecture, fit, index, spec.name, len(names)),
                target=target,
                task=task,
                task_because=because,
                activation_sizes=tuple(size for _, size in ending.applied),
                moved=ending.moved,
                rebuilds=rebuilds,
            )
        )
    return tuple(found)


def _rebuilt(target: TargetProfile, data: DataEvidence, architecture: Architecture) -> str:
    """The input that has the targets' shape and more than one value a row, "" when none has.

    Of a plain table, an input only counts when its values are the targets' too: rows of 10 columns may well have 10 labels.
    """
    rows = target.array.shape[1:]
    if target.kind in ("text", "empty") or rows in ((), (1,)):
        return ""
    for spec in architecture.inputs:
        given = data.inputs.get(spec.name)
        if given is None or given.shape != target.array.shape:
            continue
        same = all(
            one is not None and other is not None and abs(one - other) <= 0.05 * max(abs(one), abs(other), 1e-6)
            for one, other in ((given.mean, target.array.mean), (given.std, target.array.std))
        )
        if same or (len(rows) > 1 and target.kind == "continuous"):
            return spec.name
    return ""


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


def _task(
    target: TargetProfile | None, loss: str, units: int | None, activation: str, rebuilds: str
) -> tuple[Task, str]:
    """What is to be learned. Targets decide; a column of few whole numbers is a class only if head or loss treats it so."""
    if rebuilds:
        return "regression", f"the targets rebuild the input {rebuilds}"
    if target is not None:
        return _task_of(target, loss, units, activation)
    if loss in ("categorical_crossentropy", "sparse_categorical_crossentropy", "categorical_hinge"):
        return "multiclass", f"the loss is {loss}"
    if loss in BINARY_LOSSES:
        return ("binary", f"the loss is {loss}") if units == 1 else ("multilabel", f"the loss is {loss}")
    if loss in REGRESSION_LOSSES and activation not in PROBABILITIES:
        return "regression", f"the loss is {loss}"
    return "unknown", "there are no targets to tell from"


def _task_of(target: TargetProfile, loss: str, units: int | None, activation: str) -> tuple[Task, str]:
    if target.kind in ("one-hot", "distribution"):
        return "multiclass", "the targets are one-hot rows"
    if target.kind == "multi-hot":
        if loss in SPARSE_LOSSES and target.array.shape[1:] != (units,):
            return "multiclass", "the targets are class numbers for each position"
        return "multilabel", "the targets' rows hold any number of ones"
    if target.kind == "binary":
        return "binary", "the targets take two values"
    if target.kind == "classes":
        classifies = loss in CLASSIFICATION_LOSSES or activation in PROBABILITIES
        if classifies or (units is not None and units > 1 and target.array.shape[1:] in ((), (1,))):
            return "multiclass", f"the targets are {target.class_count} whole numbers"
        return "regression", "the targets are numbers and neither head nor loss treats them as classes"
    if target.kind == "continuous":
        return "regression", "the targets are real numbers"
    return "unknown", "the targets are not numbers"
