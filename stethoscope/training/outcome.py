"""How a run ends: the curve that it leaves behind, or why `fit` stops, as one plain sentence with the shapes as they are and as they should be.

What a run leaves behind: its losses step by step, condensed into a `RunCurve`.
"""

from __future__ import annotations

import copy
import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.architecture.losses import canonical_loss
from stethoscope.errors import StethoscopeError
from stethoscope.evidence.training import RunCurve, Scores
from stethoscope.framework_errors import gist
from stethoscope.program.setup import Setup

_TRACING = re.compile(
    r"OperatorNotAllowedInGraph|not allowed in Graph|symbolic|KerasTensor|numpy\(\)|NotImplementedError: Cannot convert|"
    r"Cannot convert a symbolic|in graph mode|EagerTensor|is not iterable|out of scope|FailedPrecondition",
    re.IGNORECASE,
)
_PER_COLUMN = ("categorical_crossentropy", "binary_crossentropy", "mean_squared_error", "mean_absolute_error")


class FitCrash(StethoscopeError):
    """`fit` would stop with an error. The message says why; `cause` is what the framework raised."""

    def __init__(self, message: str, cause: Exception | None = None) -> None:
        super().__init__(message)
        self.cause = cause


def is_tracing_failure(error: Exception) -> bool:
    """Whether another way to run (converted or eager) may get past this error."""
    return bool(_TRACING.search(f"{type(error).__name__}: {error}"))


def crash_sentence(setup: Setup, model: Any, error: Exception) -> str:
    """What stops `fit`, in the user's terms where the shapes explain it, else the framework's own line."""
    for sentence in (_inputs(setup, model), _targets(setup, model), _labels(setup, error), _tokens(error)):
        if sentence:
            return f"fit stops: {sentence}"
    return f"fit stops: {gist(error)}."


def _inputs(setup: Setup, model: Any) -> str:
    try:
        declared = [tuple(tensor.shape) for tensor in model.inputs or ()]
    except (AttributeError, ValueError, TypeError):
        return ""
    for (name, array), shape in zip(setup.x.items(), declared, strict=False):
        given = tuple(array.shape)
        # Keras adds or drops a last axis of 1.
        forms = {given, (*given, 1), given[:-1] if given[-1:] == (1,) else given}
        if not any(_fits(form, shape) for form in forms):
            return (
                f"input {name!r} has the shape {_shown((None, *given[1:]))}, the model is declared for {_shown(shape)}."
            )
        if array.dtype.kind in "OSU":
            return f"input {name!r} holds text, the model expects numbers."
    return ""


def _targets(setup: Setup, model: Any) -> str:
    try:
        shapes = [tuple(tensor.shape) for tensor in model.outputs or ()]
    except (AttributeError, ValueError, TypeError):
        return ""
    for place, (y, shape) in enumerate(zip(setup.y, shapes, strict=False)):
        loss = canonical_loss(setup.losses[place] if place < len(setup.losses) else None)[0]
        of = f" of {setup.outputs[place]!r}" if len(setup.y) > 1 and place < len(setup.outputs) else ""
        given = (None, *y.shape[1:])
        if y.dtype.kind in "OSU":
            return f"the targets{of} are text; {loss or 'the loss'} needs numbers."
        if loss.startswith("sparse_"):
            if y.ndim > 1 and y.shape[1:] not in ((1,), tuple(shape[1:-1]), (*shape[1:-1], 1)):
                return (
                    f"the targets{of} have the shape {_shown(given)}, but {loss} needs one class number for each prediction: "
                    f"{_shown(shape[:-1])}."
                )
            continue
        wanted = tuple(size for size in shape[1:] if size is not None)
        if loss in _PER_COLUMN and len(wanted) == len(shape) - 1 and math.prod(y.shape[1:]) != math.prod(wanted):
            return (
                f"the targets{of} have the shape {_shown(given)}, the model's output is {_shown(shape)}; "
                f"{loss} needs both to be the same."
            )
    return ""


def _labels(setup: Setup, error: Exception) -> str:
    found = re.search(r"label value of (-?\d+) which is outside the valid range of \[(\d+), (\d+)\)", str(error))
    if not found:
        return ""
    values = next((y for y in setup.y if y.dtype.kind in "biuf"), np.zeros(1))
    return (
        f"the labels go from {values.min():g} to {values.max():g}, but the output has {found[3]} units, "
        f"which stand for the classes 0 to {int(found[3]) - 1}."
    )


def _tokens(error: Exception) -> str:
    found = re.search(r"indices\[[\d, ]*\] = (-?\d+) is not in \[0, (\d+)\)", str(error))
    if not found:
        return ""
    return (
        f"the input holds the number {found[1]}, but the Embedding knows only 0 to {int(found[2]) - 1}: "
        "its input_dim must be above the highest number."
    )


def _fits(given: tuple[int, ...], declared: tuple[int | None, ...]) -> bool:
    return len(given) == len(declared) and all(
        wanted is None or size == wanted for size, wanted in zip(given[1:], declared[1:], strict=True)
    )


def _shown(shape: tuple[int | None, ...]) -> str:
    sizes = [
        "rows" if place == 0 and size is None else "any" if size is None else str(size)
        for place, size in enumerate(shape)
    ]
    return f"({', '.join(sizes)})" if len(sizes) != 1 else f"({sizes[0]},)"


MAX_POINTS = 200
_SPIKE = 3.0
"""A stretch is drawn by its highest loss instead of its mean when that is so many times higher."""


@dataclass
class Recorder:
    """The course of one run. May be copied and continued."""

    seed: int
    steps_per_epoch: int
    losses: list[float] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    score_epochs: list[int] = field(default_factory=list)
    scores: list[Scores] = field(default_factory=list)
    start: Scores | None = None
    wall_s: float = 0.0

    def add(self, losses: npt.NDArray[np.float32], sizes: npt.NDArray[np.int32]) -> None:
        """Takes the losses of consecutive steps and the rows in each."""
        self.losses.extend(float(item) for item in losses)
        self.sizes.extend(int(item) for item in sizes)

    def copy(self) -> Recorder:
        """A recorder that goes on from here without changing this one."""
        return copy.deepcopy(self)

    @property
    def nonfinite_step(self) -> int | None:
        """The first step, counted from 1, whose loss is not finite."""
        return next((index + 1 for index, item in enumerate(self.losses) if not math.isfinite(item)), None)

    def curve(self, final: Scores, stopped: str) -> RunCurve:
        """The run as evidence."""
        steps, loss = condensed(self.losses)
        epochs, epoch_loss = self._epochs()
        finite = [item for item in self.losses if math.isfinite(item)]
        nothing = Scores(float("nan"), float("nan"), float("nan"))
        held_out = [item for item in self.scores if item.val_loss is not None and item.val_score is not None]
        return RunCurve(
            seed=self.seed,
            steps_done=len(self.losses),
            epochs_done=len(self.losses) / self.steps_per_epoch,
            steps=steps,
            loss=loss,
            epochs=epochs,
            epoch_loss=epoch_loss,
            score_epochs=tuple(self.score_epochs),
            epoch_score=tuple(item.score for item in self.scores),
            val_loss=tuple(float(item.val_loss) for item in held_out if item.val_loss is not None),
            val_score=tuple(float(item.val_score) for item in held_out if item.val_score is not None),
            final=final,
            start=self.start or nothing,
            stopped=stopped,
            nonfinite_step=self.nonfinite_step,
            max_loss=max(finite) if finite else float("nan"),
            wall_s=self.wall_s,
        )

    def _epochs(self) -> tuple[tuple[int, ...], tuple[float, ...]]:
        """Mean loss over the rows of each complete epoch, thinned to `MAX_POINTS` epochs with the last one kept."""
        width = self.steps_per_epoch
        count = len(self.losses) // width
        if count == 0:
            return (), ()
        losses = np.array(self.losses[: count * width]).reshape(count, width)
        sizes = np.array(self.sizes[: count * width], np.float64).reshape(count, width)
        means = (losses * sizes).sum(axis=1) / sizes.sum(axis=1)
        chosen = np.unique(np.linspace(0, count - 1, min(count, MAX_POINTS)).round().astype(int))
        return tuple(int(place) + 1 for place in chosen), tuple(float(means[place]) for place in chosen)


def condensed(losses: Sequence[float], points: int = MAX_POINTS) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Means over stretches of steps, at the last step of each; a spike or a non-finite value stands for its stretch."""
    values = np.asarray(losses, np.float64)
    steps: list[int] = []
    found: list[float] = []
    edges = np.unique(np.linspace(0, len(values), min(len(values), points) + 1).round().astype(int))
    for begin, end in itertools.pairwise(edges):
        part = values[begin:end]
        broken = part[~np.isfinite(part)]
        mean, top = (float("nan"), float("nan")) if broken.size else (float(part.mean()), float(part.max()))
        steps.append(int(end))
        found.append(float(broken[0]) if broken.size else top if mean > 0 and top > _SPIKE * mean else mean)
    return tuple(steps), tuple(found)
