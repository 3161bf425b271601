"""A short, instrumented training run on the user's data, and a few what-if runs beside it.

All runs of a log beside each other: what checks across runs compare.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from stethoscope.logs.curves import CurveEvidence


@dataclass(frozen=True)
class Scores:
    """How good a run ended, in terms that do not depend on the loss.

    `skill` is (score − chance) / (1 − chance): 1 is perfect, 0 no better than the majority class or the mean (for
    regression it is R²). Kept between −1 and 1. NaN when predictions are not finite. Scores of several outputs are in
    metrics of their own and are never averaged; skills are, those below 0 as 0.
    """

    loss: float
    score: float
    """Accuracy, mean label accuracy or R² on the training rows (a sample of at most 2,000)."""
    skill: float
    val_loss: float | None = None
    val_score: float | None = None
    val_skill: float | None = None
    distinct_predictions: int | None = None
    """Different classes predicted; for regression whether the output varies at all (1 or 2)."""
    heads: tuple[HeadScore, ...] = ()
    """Of several outputs, each one's; `score` is that of the one that stands for the network, `skill` the mean over those scored."""


@dataclass(frozen=True)
class HeadScore:
    """One output of several, in its own metric. NaN where it is not trained or cannot be scored."""

    score: float
    skill: float
    val_score: float | None = None
    val_skill: float | None = None


def skill_over(score: float, chance: float) -> float:
    """How far a score is from that of guessing (0) to perfect (1), kept between −1 and 1; where guessing is perfect, 0 below it."""
    if chance >= 1.0:
        return 1.0 if score >= 1.0 else 0.0
    return max(-1.0, min(1.0, (score - chance) / (1.0 - chance)))


@dataclass(frozen=True)
class RunCurve:
    """One run of one seed. `steps`/`loss` are means over short stretches of steps; spikes and NaN are kept."""

    seed: int
    steps_done: int
    epochs_done: float
    steps: tuple[int, ...]
    loss: tuple[float, ...]
    epoch_loss: tuple[float, ...]
    """Mean loss of the complete epochs named in `epochs`."""
    epoch_score: tuple[float, ...]
    """Score on training rows at the ends of `score_epochs`; so are `val_loss` and `val_score` on validation rows."""
    val_loss: tuple[float, ...] = ()
    val_score: tuple[float, ...] = ()
    final: Scores = field(default_factory=lambda: Scores(float("nan"), float("nan"), float("nan")))
    start: Scores = field(default_factory=lambda: Scores(float("nan"), float("nan"), float("nan")))
    stopped: str = ""
    """"" when it ran to its end, "time", or "non-finite"."""
    nonfinite_step: int | None = None
    max_loss: float = float("nan")
    wall_s: float = 0.0
    epochs: tuple[int, ...] = ()
    score_epochs: tuple[int, ...] = ()


@dataclass(frozen=True)
class LayerTraining:
    """What happened to one layer with weights (and each activation layer) during the base run of the first seed.

    Tuples are taken at `TrainingEvidence.sampled_steps`.
    """

    path: str
    type: str
    activation: str
    trainable: bool
    parameters: int
    gradient_norm: tuple[float, ...] = ()
    """Euclidean norm of the gradient over the layer's weights, per square root of their number (root mean square)."""
    update_ratio: tuple[float, ...] = ()
    """Norm of one update over norm of the weights."""
    dead_fraction: tuple[float, ...] = ()
    """Share of units that are zero on every probe row; empty where the activation cannot die."""
    saturated_fraction: tuple[float, ...] = ()
    activation_std: tuple[float, ...] = ()
    relative_change: float | None = None
    """Norm of (weights at the end − at the start) over the norm at the start; None without weights."""
    nonfinite_step: int | None = None


@dataclass(frozen=True)
class GradientError:
    """The computed gradient of one layer beside the measured slope of the loss, along one direction of its weights."""

    layer: str
    analytic: float
    numeric: float
    relative_error: float
    """|analytic − numeric| over the larger of the two, 0 where the difference is within what rounding explains."""


@dataclass(frozen=True)
class Trial:
    """The same training with one thing changed: what would happen if …

    `id` is stable: longer, rate-up, rate-up-100, rate-down, scale-inputs, scale-targets, scale-both, adam, batch-32,
    relu-hidden, default-init, loss-matched (more may be added). `runs` pair with the base runs by seed.
    """

    id: str
    title: str
    runs: tuple[RunCurve, ...]
    detail: str = ""
    value: float | None = None
    """The number that was changed, if it was one: the rate, the epochs, the batch size."""
    effect: float = 0.0
    """Mean gain in skill over the base on the same seeds (on validation rows when there are, else training rows)."""
    spread: float = 0.0
    helps: bool = False
    worse: bool = False
    gain_train: float = 0.0
    """Mean gain in skill on the training rows."""
    loss_ratio: float | None = None
    """Final loss over the base's final loss, where the loss is comparable."""


@dataclass(frozen=True)
class TrainingEvidence:
    """The base run (one per seed) and the trials."""

    loss: str
    optimizer: str
    learning_rate: float | None
    batch_size: int
    epochs_asked: int | None
    """None when the user did not say."""
    steps_per_epoch: int
    train_rows: int
    val_rows: int
    score_name: str
    """"accuracy", "mean label accuracy" or "r2"."""
    chance: float
    """The score of the majority class or the mean."""
    score_output: str = ""
    """Of several outputs, the one that scores and `chance` are of."""
    base: tuple[RunCurve, ...] = ()
    sampled_steps: tuple[int, ...] = ()
    layers: tuple[LayerTraining, ...] = ()
    trials: tuple[Trial, ...] = ()
    step_s: float = 0.0
    assumed: tuple[str, ...] = ()
    """What the program did not say and was assumed, one sentence each."""
    started_from: str = "initial weights"
    """"initial weights", "new initial weights" (the file's are trained), or "the file's weights"."""
    crashed: str = ""
    """Why `fit` cannot run, in one sentence; then nothing else is here."""
    untried: tuple[str, ...] = ()
    """Trials that were left out, each with its reason."""
    initial_loss: float | None = None
    expected_initial_loss: float | None = None
    per_class_recall: tuple[float, ...] = ()
    per_class_count: tuple[int, ...] = ()
    gradient_errors: tuple[GradientError, ...] = ()
    """Computed against measured gradients, where the model holds operations whose gradient may be wrong; else empty."""

    def trial(self, trial_id: str) -> Trial | None:
        """The trial with this id, if it was run."""
        return next((trial for trial in self.trials if trial.id == trial_id), None)

    @property
    def complete(self) -> bool:
        """Whether the base run did all the epochs that were asked for."""
        return bool(self.base) and all(run.stopped == "" for run in self.base)

    @cached_property
    def skill(self) -> float:
        """Mean final skill of the base runs on training rows (NaN counts as 0)."""
        found = [0.0 if run.final.skill != run.final.skill else run.final.skill for run in self.base]
        return sum(found) / len(found) if found else 0.0

    @property
    def score_title(self) -> str:
        """The metric, with its output where there are several."""
        return f"{self.score_name} of {self.score_output}" if self.score_output else self.score_name

    @property
    def skill_of_score(self) -> float:
        """Mean final skill of the output that scores are of, on training rows (NaN counts as 0)."""
        found = [skill_over(run.final.score, self.chance) for run in self.base if run.final.score == run.final.score]
        return sum(found) / len(self.base) if found else 0.0

    @cached_property
    def curves(self) -> tuple[CurveEvidence, ...]:
        """The base runs as curves, by step."""
        return tuple(
            CurveEvidence(
                run=f"seed {run.seed}",
                source="short run",
                unit="step",
                steps=tuple(float(step) for step in run.steps),
                loss=run.loss,
                metric=run.epoch_score,
                metric_steps=tuple(float(epoch * self.steps_per_epoch) for epoch in run.score_epochs),
                metric_name=self.score_name,
                val_steps=tuple(float(epoch * self.steps_per_epoch) for epoch in run.score_epochs[: len(run.val_loss)]),
                val_loss=run.val_loss,
                val_metric=run.val_score,
                complete=run.stopped == "",
            )
            for run in self.base
        )


@dataclass(frozen=True)
class SharedPoints:
    """Points that a run has in common with an earlier one, to the last bit."""

    other: str
    """The earlier run."""
    tags: tuple[str, ...]
    """The losses and metrics that agree: all that both have."""
    points: int
    """How many points of each agree from the first on (the fewest of any tag)."""
    whole: bool
    """Whether that is all of both runs."""


@dataclass(frozen=True)
class LoggedRun:
    """One run: its settings, its curve in few points, and when it was written."""

    run: str
    group: str = ""
    tracker: str = ""
    unit: str = "step"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    curve: CurveEvidence | None = None
    """Its overview: at most some hundred points; None when no tag is a loss or a metric."""
    points: int = 0
    """Of all tags together."""
    shared: tuple[SharedPoints, ...] = ()
    first_wall: float | None = None
    """When its first point was written, seconds since 1970; None where the log has no times."""
    last_wall: float | None = None


@dataclass(frozen=True)
class RunsEvidence:
    """Every run that was read, oldest first."""

    runs: tuple[LoggedRun, ...]
    left_out: int = 0
    """Runs that were not examined because there were too many."""
