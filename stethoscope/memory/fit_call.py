"""How a model is trained in one call of `model.fit`: what the user says, else the file, else what its outputs suggest. Used in a worker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stethoscope.data.rows import bind_all, data_of
from stethoscope.errors import BadInput
from stethoscope.evidence.heads import heads_of
from stethoscope.memory.configure import Configured
from stethoscope.task import TaskContext
from stethoscope.training.compiled import assumed_loss, losses_of_targets, named_loss, named_optimizer, outputs_in_order
from stethoscope.training.drawn_targets import DrawnTarget, target_of_head, target_of_loss
from stethoscope.training.from_job import fit_settings, is_of_tf_keras, loss_weights, model_to_train
from stethoscope.types import Architecture, Feed


@dataclass(frozen=True)
class FitCall:
    """How a model is trained, as plain values."""

    modern: bool
    """Keras 3 (True) or tf_keras (False)."""
    losses: tuple[Any, ...]
    """One for each output, as in `Setup`."""
    optimizer: Mapping[str, Any]
    loss_weights: tuple[float, ...] = ()
    targets: tuple[DrawnTarget, ...] = ()
    """One for each output, where the data has no labels."""
    outputs: tuple[str, ...] = ()
    metrics: Any = None
    """As Keras serialises those that the file was compiled with."""
    jit_compile: bool = False
    from_file: bool = False
    """Whether the file was compiled, and nobody asks for another loss or optimizer."""
    assumed: tuple[str, ...] = ()
    """A sentence for each thing that nobody said."""

    @property
    def optimizer_name(self) -> str:
        """Keras' class."""
        return str(self.optimizer.get("class_name", "")).rsplit(">", 1)[-1]


def fit_call(context: TaskContext, opened: Configured, outputs: Feed) -> FitCall:
    """How the model of a job is trained: as its params["fit"] say, else as the file says, else as its outputs suggest.

    Args:
        context: the job.
        opened: its model.
        outputs: of one row, each output by name.

    Raises:
        CannotRun: no Keras model.
        BadInput: data that does not fit, or labels for some outputs only.
        BadSetting: a fit setting that makes no sense.
    """
    architecture, fit = opened.architecture, fit_settings(context.params.get("fit"))
    model = model_to_train(opened.runner, architecture, context.files["model"].name)
    modern = not is_of_tf_keras(model)
    names = outputs_in_order(model, architecture)
    assumed: list[str] = []
    optimizer, sentences = named_optimizer(architecture, fit, modern)
    assumed += sentences
    labels = labels_of(context, architecture)
    said = architecture.compile
    details = said.details if said is not None else {}
    targets: tuple[DrawnTarget, ...] = ()
    if labels:
        missing = [name for name in names if name not in labels]
        if missing:
            raise BadInput(f"The data: expected labels for every output, got none for {missing}. Add them by name.")
        found, sentences = losses_of_targets(architecture, fit, names, {name: labels[name] for name in names})
        losses = tuple(found.values())
    else:
        losses, targets, sentences = _drawn(architecture, named_loss(architecture, fit, names), names, outputs)
        where = "The data has no labels" if "data" in context.files else "No data was given"
        sentences = (f"{where}: random labels of the shape that the loss takes.", *sentences)
    return FitCall(
        modern,
        losses,
        optimizer,
        loss_weights(architecture, names),
        targets,
        tuple(names),
        None if fit.loss else details.get("metrics"),
        bool(details.get("jit_compile")) and details.get("jit_compile") != "auto",
        bool(details.get("optimizer")) and not (fit.loss or fit.optimizer),
        (*assumed, *sentences),
    )


def labels_of(context: TaskContext, architecture: Architecture) -> Feed:
    """The data's labels by output; empty without data, or where it has none."""
    if "data" not in context.files:
        return {}
    bound = bind_all(data_of(context), architecture)
    if bound.problem:
        raise BadInput(bound.problem)
    return bound.targets


def _drawn(
    architecture: Architecture, named: Sequence[Any], names: Sequence[str], outputs: Feed
) -> tuple[tuple[Any, ...], tuple[DrawnTarget, ...], tuple[str, ...]]:
    """Losses, labels, and a sentence for each loss that nobody named."""
    shapes = [outputs[name].shape[1:] for name in names]
    if any(loss is not None for loss in named):
        return tuple(named), tuple(target_of_loss(loss, shape) for loss, shape in zip(named, shapes, strict=True)), ()
    heads = heads_of(architecture, None, None)
    places = {spec.name: place for place, spec in enumerate(architecture.outputs)}
    losses, targets, sentences = list[Any](), list[DrawnTarget](), list[str]()
    for name, shape in zip(names, shapes, strict=True):
        place = places[name]
        target = target_of_head(heads[place].activation if place < len(heads) else "", shape)
        loss, sentence = assumed_loss(architecture, place, target.array(64, 0))
        losses.append(loss)
        targets.append(target)
        sentences.append(sentence)
    return tuple(losses), tuple(targets), tuple(dict.fromkeys(sentences))
