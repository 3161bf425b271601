"""Training mode against inference mode, and how far batch normalisation's memory is from the batch it sees; a model saved and loaded again.

A model that is saved and loaded again is the same model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from stethoscope import framework_errors
from stethoscope.compare.consistency.layer_search import BATCH_TYPES, RANDOM_TYPES
from stethoscope.compare.consistency.subject import Origin, Refused, Subject, Trial, listed, number
from stethoscope.data.batching import same_bits
from stethoscope.errors import CannotRun
from stethoscope.framework_errors import gist
from stethoscope.models.capabilities import LiveModel
from stethoscope.types import Refusal, Runner

_WRAPPED = ("layer", "forward_layer", "backward_layer", "cell", "cells")
_ID, _NAME = "train-vs-inference", "Training mode against inference mode"


@dataclass(frozen=True)
class Statistics:
    """Moving statistics of one batch normalisation, against those of the batch.

    `mean_shift` is the largest distance of a channel's batch mean from the moving mean, in moving standard deviations;
    `variance_ratio` the batch variance over the moving variance in the channel where they differ most.
    """

    layer: str
    mean_shift: float
    variance_ratio: float

    @property
    def distance(self) -> float:
        """How far they are apart: 0 when they agree."""
        return self.mean_shift + abs(float(np.log(max(self.variance_ratio, 1e-12))))

    def to_json(self) -> dict[str, Any]:
        """JSON values."""
        return {"layer": self.layer, "mean_shift": self.mean_shift, "variance_ratio": self.variance_ratio}


def trial(subject: Subject) -> Trial:
    """Runs in training mode once. Comes last: it may move the statistics of the model in memory."""
    subject.context.report("training mode", 0.9)
    statistics = normalisations(subject)
    few = subject.few(subject.feed)
    try:
        usual = subject.begun(few)
        subject.runner.forget()
        trained = subject.runner.predict(few, training=True)
    except CannotRun as error:
        said = subject.said(error)
        return Trial(_ID, "mode", _NAME, None, f"{said[:1].upper()}{said[1:]}.")
    except Exception as error:  # noqa: BLE001 - whatever a layer says to training=True is the answer
        framework_errors.let_through(error)
        return Trial(_ID, "mode", _NAME, None, f"It does not run in training mode: {subject.said(error)}.", noted=True)
    if not subject.steady:
        return Trial(_ID, "mode", _NAME, None, "Not meaningful: the output already changes from run to run.")
    gap = subject.gap(usual, trained)
    size = 0.0 if gap is None else gap.max_abs_diff
    switching = _switching(subject)
    farthest = max(statistics, key=lambda item: item.distance, default=None)
    values = {"layers": switching[:20], "batch_normalisation": [item.to_json() for item in statistics[:20]]}
    said = _said(farthest, subject.given.source)
    if gap is None or not gap.beyond:
        how = (
            f", although {listed(switching)} can behave differently" if switching else ": no layer depends on the mode"
        )
        return Trial(_ID, "mode", _NAME, True, f"Both modes give the same output{how}.{said}", size, values=values)
    if switching:
        detail = f"The modes differ by up to {size:.3g}, as {listed(switching)} should make them.{said}"
        return Trial(_ID, "mode", _NAME, True, detail, size, _origin(subject, switching, farthest), values=values)
    detail = f"The modes differ by up to {size:.3g}, and no layer known to depend on the mode explains it."
    own = not subject.layers or bool(subject.architecture.hazards)
    return Trial(_ID, "mode", _NAME, None if own else False, detail, size, noted=own, values=values)


def _switching(subject: Subject) -> list[str]:
    kinds = (*RANDOM_TYPES, *BATCH_TYPES)
    return [
        path
        for path, layer in subject.layers.items()
        if layer.type.startswith(kinds) or _drops_inside(layer.config, kinds)
    ]


def _drops_inside(config: Mapping[str, Any], kinds: tuple[str, ...]) -> bool:
    """Whether a layer drops values of its own (recurrent and attention layers), or wraps one that depends on the mode."""
    rates = (value for key, value in config.items() if "dropout" in key)
    if any(isinstance(rate, int | float) and rate > 0 for rate in rates):
        return True
    wrapped = (config[key] for key in _WRAPPED if key in config)
    inner = [item for value in wrapped for item in (value if isinstance(value, list | tuple) else [value])]
    return any(
        str(item.get("class_name", "")).startswith(kinds) or _drops_inside(item.get("config") or {}, kinds)
        for item in inner
        if isinstance(item, Mapping)
    )


def _origin(subject: Subject, switching: list[str], farthest: Statistics | None) -> Origin:
    random = [path for path in switching if not subject.kind(path).startswith(BATCH_TYPES)]
    if random:
        return Origin(random[0], f"{subject.kind(random[0])} drops or disturbs values in training mode only.")
    path = farthest.layer if farthest else switching[0]
    return Origin(
        path, f"{subject.kind(path)} uses the statistics of the batch in training mode, its moving ones otherwise."
    )


def _said(farthest: Statistics | None, source: str) -> str:
    if farthest is None:
        return ""
    where = (
        f" In {farthest.layer} the batch's mean is up to {farthest.mean_shift:.3g} moving standard deviations from the moving "
        f"mean, its variance {farthest.variance_ratio:.3g} times the moving one"
    )
    return where + (": on random input that says little, give real data." if source == "dummy" else ".")


def normalisations(subject: Subject) -> list[Statistics]:
    """Moving against batch statistics of every batch normalisation of a Keras model, from one inference call.

    The output y of such a layer is γ·(x − moving mean) / √(moving variance + ε) + β: solved for the fraction, its mean
    and variance over the batch are the distances looked for, in moving standard deviations.

    Source: Ioffe and Szegedy, Batch Normalization (2015), algorithm 2.
    """
    named = [path for path, layer in subject.layers.items() if layer.type == "BatchNormalization"]
    runner = subject.runner.can(LiveModel)
    if not named or isinstance(runner, Refusal):
        return []
    live = {layer.name: layer for layer in _all_layers(runner.model) if type(layer).__name__ == "BatchNormalization"}
    outputs = subject.activations(subject.feed, named) or subject.activations(subject.few(subject.feed), named) or {}
    found = []
    for path in named:
        layer, output = live.get(path.rsplit("/", 1)[-1]), outputs.get(path)
        if layer is not None and output is not None and output.ndim > 1:
            measured = _statistics(path, layer, output)
            if measured is not None:
                found.append(measured)
    return found


def _all_layers(model: Any) -> list[Any]:
    flatten = getattr(model, "_flatten_layers", None)
    return list(flatten()) if flatten else list(getattr(model, "layers", ()))


def _statistics(path: str, layer: Any, output: Any) -> Statistics | None:
    axis = layer.axis[0] if isinstance(layer.axis, list | tuple) else layer.axis
    channels = np.moveaxis(output, int(axis), -1)
    count = channels.size // channels.shape[-1]
    others = tuple(range(channels.ndim - 2))
    ones = np.ones(channels.shape[-1])
    gamma = ones if layer.gamma is None else np.asarray(layer.gamma, dtype=np.float64)
    beta = 0 * ones if layer.beta is None else np.asarray(layer.beta, dtype=np.float64)
    # A channel with γ = 0 shows nothing of its input.
    visible = np.abs(gamma) > 1e-6
    total, squares = 0 * ones, 0 * ones
    for row in channels:  # one row at a time: whole arrays in double precision would not fit
        fraction = np.divide(row - beta, gamma, out=np.zeros(row.shape), where=visible)
        total += fraction.sum(axis=others)
        squares += np.square(fraction).sum(axis=others)
    mean = (total / count)[visible]
    ratio = np.maximum((squares / count)[visible] - np.square(mean), 0.0)
    if count < 2 or not mean.size or not (np.isfinite(mean).all() and np.isfinite(ratio).all()):
        return None
    shift = np.abs(mean)
    farthest = int(np.abs(np.log(np.maximum(ratio, 1e-12))).argmax())
    return Statistics(path, float(shift.max()), float(ratio[farthest]))


_OUTPUTS = ("save-reload-outputs", "Same output after saving and loading")
_WEIGHTS = ("save-reload-weights", "Same weights after saving and loading")
MOST_WEIGHT_BYTES = 500 << 20
_COPIES = 3
"""Weights in memory while a second model is loaded: its own, those being read, and what runs."""


def trials(subject: Subject) -> list[Trial]:
    """Saves the loaded model as a file of its own kind, loads that, and compares weights and outputs."""
    why = _why_not(subject)
    if why:
        return _both(None, why)
    runner = subject.runner.can(LiveModel)
    assert isinstance(runner, LiveModel)
    subject.context.report("save and reload", 0.7)
    folder = subject.context.folder / "tmp" / "saved"
    folder.mkdir(parents=True, exist_ok=True)
    try:
        again = runner.reloaded(folder, trusted=bool(subject.context.params.get("trusted", False)))
    except Exception as error:  # noqa: BLE001 - classes of the model's own fail in every possible way
        if framework_errors.explain(error) is not None:
            return _both(None, "Not enough memory for a second copy of the model.")
        said = gist(error).removeprefix(f"{subject.context.files['model'].name}: ").rstrip(".")
        return _both(False, f"It cannot be saved and loaded again: {said}.")
    weights = _weights(runner.weights(), again.weights())
    return [_outputs(subject, again), weights]


def _both(passed: bool | None, detail: str) -> list[Trial]:
    return [Trial(id_, "save-reload", name, passed, detail) for id_, name in (_OUTPUTS, _WEIGHTS)]


def _why_not(subject: Subject) -> str:
    if isinstance(subject.runner.can(LiveModel), Refusal):
        return "Only Keras models can be saved from memory: this file is itself what was exported."
    size = subject.architecture.weight_bytes
    if size > MOST_WEIGHT_BYTES:
        return f"Not tried: the weights are larger than {MOST_WEIGHT_BYTES >> 20} MiB."
    left = subject.context.budget.memory_bytes - subject.context.memory.added_bytes()
    if _COPIES * size > left:
        return "Not tried: the memory limit leaves no room for a second copy of the weights."
    return "Not tried: most of the time limit was used up." if subject.out_of_time else ""


def _outputs(subject: Subject, again: Runner) -> Trial:
    id_, name = _OUTPUTS
    if not subject.steady:
        return Trial(id_, "save-reload", name, None, "Not meaningful: the output already changes from run to run.")
    try:
        with again:
            gap = subject.gap(subject.reference, again.predict(subject.feed))
            first = None if gap is None or not gap.beyond else _first_layer(subject, again)
    except Exception as error:  # noqa: BLE001 - whatever the second model says, the first one ran
        framework_errors.let_through(error)
        return Trial(id_, "save-reload", name, False, f"What was loaded again does not run: {gist(error)}.")
    size = 0.0 if gap is None else gap.max_abs_diff
    if gap is None or not gap.beyond:
        return Trial(id_, "save-reload", name, True, f"The loaded copy gives the same (largest gap {size:.3g}).", size)
    detail = f"The loaded copy gives {number(gap.values[1])} where the model gives {number(gap.values[0])}."
    return Trial(id_, "save-reload", name, False, detail, size, first)


def _first_layer(subject: Subject, again: Runner) -> Origin | None:
    from stethoscope.data.batching import first_layer

    few = subject.few(subject.feed)
    mine = subject.activations(few)
    try:
        theirs = again.activations(few)
    except Refused:
        return None
    hit = None if mine is None else first_layer(mine, theirs, subject.atol, bits=False, half=subject.half)
    if hit is None:
        return None
    kind = subject.kind(hit[0])
    reason = f"{kind} is not rebuilt as it was: its get_config or its saved variables leave something out."
    return Origin(hit[0], reason, hit[1])


def _weights(mine: dict[str, Any], theirs: dict[str, Any]) -> Trial:
    id_, name = _WEIGHTS
    if len(mine) != len(theirs):
        detail = f"The model has {len(mine)} weights, the loaded copy {len(theirs)}."
        return Trial(id_, "save-reload", name, False, detail, values={"weights": len(mine), "loaded": len(theirs)})
    different = [
        (path, _largest(weight, other))
        for (path, weight), other in zip(mine.items(), theirs.values(), strict=True)
        if not same_bits(weight, other)
    ]
    if not different:
        return Trial(id_, "save-reload", name, True, f"All {len(mine)} weights are the same, to the bit.", 0.0)
    path, size = max(different, key=lambda item: item[1])
    detail = f"{len(different)} of {len(mine)} weights differ; {path} by up to {size:.3g}."
    reason = "The file does not keep this weight, or loads it into another place."
    layer = path.rsplit("/", 1)[0]
    return Trial(id_, "save-reload", name, False, detail, size, Origin(layer, reason))


def _largest(first: Any, second: Any) -> float:
    if first.shape != second.shape or first.dtype.kind not in "fiub":
        return float("inf")
    return float(np.abs(first.astype(np.float64) - second.astype(np.float64)).max(initial=0.0))
