"""What a sweep of training says: its points, what each change to the training does to the peak, and why `predict` needs other memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from stethoscope.memory.fit_changes import FitChange, UntriedChange
from stethoscope.memory.points import Swept
from stethoscope.sizes import human_bytes
from stethoscope.types import Status

NOISE_FRACTION, NOISE_BYTES = 0.03, 6 << 20
"""A peak lower by less than the larger of both is the same peak: two processes that do the same differ by as much."""


@dataclass(frozen=True)
class HeldBytes:
    """What a call holds however it computes, each counted from its arrays."""

    weights: int = 0
    gradients: int = 0
    """One number for each trained weight; not all of them at once, nor when most else is held."""
    optimizer: int = 0
    inputs: int = 0
    """Data, labels included: the arrays, and the copy that Keras makes of them."""
    outputs: int = 0
    """`predict` collects them batch by batch, and joins them: twice their size."""


@dataclass(frozen=True)
class FitTrial:
    """A training with one change, in a process of its own."""

    change: FitChange
    status: Status = Status.OK
    reason: str = ""
    peak_bytes: int | None = None
    time_per_sample_s: float | None = None
    saved_fraction: float | None = None
    """Of the peak without the change; below 0 where it needs more. None where either was not measured."""
    lowers: bool = False
    """Whether it saves more than equal processes differ by."""


@dataclass(frozen=True)
class Part:
    """One part of a peak."""

    name: str
    size_bytes: int


@dataclass(frozen=True)
class FitAndPredict:
    """Both calls on the same rows at the same batch, each in a process of its own."""

    batch_size: int
    rows: int
    fit_peak_bytes: int
    predict_peak_bytes: int
    fit: tuple[Part, ...] = ()
    predict: tuple[Part, ...] = ()
    sentence: str = ""


@dataclass(frozen=True)
class TrainingSwept(Swept):
    """`model.fit` over batch sizes, each in a process of its own; its points have `call` "fit"."""

    loss: str = ""
    optimizer: str = ""
    assumed: tuple[str, ...] = ()
    """A sentence for each thing that nobody said."""
    rows: int = 0
    """In each call, as a multiple of its batch."""
    row_bytes: int = 0
    """What each further row of data adds: its arrays, and the copy that `fit` makes."""
    trials_batch: int | None = None
    """The batch at which changes were tried; None where none ran."""
    trials: tuple[FitTrial, ...] = ()
    """By rank: the lowest peak first, then what did not run."""
    untried: tuple[UntriedChange, ...] = ()
    best: str = ""
    """The id of the change that lowers the peak most; "" where none does."""
    compared: FitAndPredict | None = None


def ranked(trials: Sequence[FitTrial], present_bytes: int | None) -> tuple[FitTrial, ...]:
    """The trials with what each saves, by their peak; those that did not run last."""
    told = []
    for trial in trials:
        saved = 1 - trial.peak_bytes / present_bytes if trial.peak_bytes and present_bytes else None
        enough = max(NOISE_FRACTION, NOISE_BYTES / present_bytes) if present_bytes else 0.0
        lowers = trial.status is Status.OK and (saved is None or saved > enough)
        told.append(replace(trial, saved_fraction=saved, lowers=lowers))
    return tuple(sorted(told, key=lambda trial: (trial.status is not Status.OK, trial.peak_bytes or 0)))


def compared(
    batch_size: int,
    rows: int,
    fit: tuple[int, HeldBytes],
    predict: tuple[int, HeldBytes],
    row_growth_bytes: float | None,
) -> FitAndPredict:
    """Takes two measured peaks apart: what is counted from arrays, what grows with the batch, and the rest.

    Args:
        batch_size: of both calls.
        rows: that both were given.
        fit: its peak, and what it holds.
        predict: the same.
        row_growth_bytes: by how much the peak of `fit` grew with each row of a batch; None where one batch ran.
    """
    peak, held = fit
    rest = max(0, peak - held.weights - held.optimizer - held.inputs)
    grows = min(rest, max(0, int((row_growth_bytes or 0.0) * batch_size - held.inputs)))
    fit_parts = [Part("weights", held.weights), Part("optimizer states", held.optimizer)]
    fit_parts.append(Part("data and its copy", held.inputs))
    if row_growth_bytes is None:
        fit_parts.append(Part("activations, gradients, tracing, workspace", rest))
    else:
        fit_parts += [Part("activations", grows), Part("gradients, tracing, workspace", rest - grows)]
    other, kept = predict
    alive = max(0, other - kept.weights - kept.inputs - kept.outputs)
    predict_parts = (
        Part("weights", kept.weights),
        Part("data and its copy", kept.inputs),
        Part("outputs collected and joined", kept.outputs),
        Part("activations, tracing, workspace", alive),
    )
    return FitAndPredict(
        batch_size,
        rows,
        peak,
        other,
        tuple(part for part in fit_parts if part.size_bytes),
        tuple(part for part in predict_parts if part.size_bytes),
        _sentence(batch_size, (peak, held, grows, rest - grows), (other, kept, alive)),
    )


def _sentence(batch_size: int, fit: tuple[int, HeldBytes, int, int], predict: tuple[int, HeldBytes, int]) -> str:
    (peak, held, grows, others), (other, kept, alive) = fit, predict
    both = f"At batch {batch_size:,} fit takes {human_bytes(peak)} and predict {human_bytes(other)}"
    if abs(peak - other) <= max(NOISE_BYTES, NOISE_FRACTION * max(peak, other)):
        return f"{both}: the same within what equal runs differ by."
    reasons = [
        (grows, f"it keeps {human_bytes(grows)} of activations until the backward pass has read them"),
        (held.optimizer, f"its optimizer keeps {human_bytes(held.optimizer)}"),
        (
            others,
            f"tracing a step, its workspace and its gradients ({human_bytes(held.gradients)} in all) take "
            f"{human_bytes(others)}",
        ),
        (held.inputs - kept.inputs, f"it has {human_bytes(held.inputs - kept.inputs)} of labels"),
    ]
    if peak < other:
        reasons = [
            (kept.outputs, f"it collects and joins {human_bytes(kept.outputs)} of outputs"),
            (alive - grows, f"it needs {human_bytes(alive)} to compute a batch"),
        ]
    name = "Fit" if peak > other else "Predict"
    told = [text for size, text in sorted(reasons, reverse=True) if size > NOISE_FRACTION * abs(peak - other)]
    return f"{both}. {name} needs more: {'; '.join(told[:3])}." if told else f"{both}."
