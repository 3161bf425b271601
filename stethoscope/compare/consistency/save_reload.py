"""A model that is saved and loaded again is the same model."""

from __future__ import annotations

from typing import Any

import numpy as np

from stethoscope import out_of_memory
from stethoscope.compare.consistency.subject import Origin, Refused, Subject, Trial, number
from stethoscope.data.feeds.differences import same_bits
from stethoscope.framework_errors import gist
from stethoscope.models.capabilities import LiveModel
from stethoscope.types import Refusal, Runner

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
        if out_of_memory.explain(error) is not None:
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
        return Trial(id_, "save-reload", name, False, f"What was loaded again does not run: {gist(error)}.")
    size = 0.0 if gap is None else gap.max_abs_diff
    if gap is None or not gap.beyond:
        return Trial(id_, "save-reload", name, True, f"The loaded copy gives the same (largest gap {size:.3g}).", size)
    detail = f"The loaded copy gives {number(gap.values[1])} where the model gives {number(gap.values[0])}."
    return Trial(id_, "save-reload", name, False, detail, size, first)


def _first_layer(subject: Subject, again: Runner) -> Origin | None:
    from stethoscope.data.feeds.differences import first_layer

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
