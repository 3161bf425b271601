"""What a run leaves behind: its losses step by step, condensed into a `RunCurve`."""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from stethoscope.evidence.training import RunCurve, Scores

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
