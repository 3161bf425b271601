"""What trying other settings gave: one trial per alternative, ranked by the peak it measured. Standard library only.

What running several models at once came to.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from stethoscope.codec import SCHEMA_VERSION, decode
from stethoscope.memory.alternatives import Alternative, Untried
from stethoscope.memory.sharing import Split
from stethoscope.memory.sharing_programs import SharingCode
from stethoscope.types import Status

NOISE_FRACTION, NOISE_BYTES = 0.02, 4 << 20
"""A peak lower by less than the larger of both is the same peak: two runs of the same settings differ by as much."""
SAME_OUTPUTS = 1e-4
"""Largest difference, as a share of the largest output, that rounding in another order explains in float32."""
AS_FAST = 1.1
"""Times the present time per sample that still counts as fast."""


@dataclass(frozen=True)
class Trial:
    """One way of running the model, and what it measured. Sizes in bytes, times in seconds; None where not measured."""

    alternative: Alternative
    status: Status | None = None
    """None while it waits or runs."""
    reason: str = ""
    peak_bytes: int | None = None
    later_peak_bytes: int | None = None
    """Of later passes: without tracing and compiling."""
    held_bytes: int | None = None
    """Before the first pass: weights and runtime."""
    time_per_sample_s: float | None = None
    first_pass_s: float | None = None
    max_abs_diff: float | None = None
    """Of outputs on the same rows, against the present settings (or the first run that was possible)."""
    relative_diff: float | None = None
    """The same as a share of the largest output."""
    job_id: str = ""

    @property
    def ran(self) -> bool:
        """Whether it gave a peak."""
        return self.status is Status.OK and self.peak_bytes is not None

    @property
    def keeps_outputs(self) -> bool:
        """Whether outputs were seen to be the same up to rounding in float32."""
        return self.relative_diff is not None and self.relative_diff <= SAME_OUTPUTS


@dataclass(frozen=True)
class Lowered:
    """All trials so far."""

    present: Trial
    trials: tuple[Trial, ...] = ()
    untried: tuple[Untried, ...] = ()
    status: Status | None = None
    """None while it is under way."""
    reason: str = ""
    progress: str = ""
    fraction: float = 0.0
    wall_s: float = 0.0

    @property
    def ranked(self) -> tuple[Trial, ...]:
        """Those that ran by their peak, then those that did not, in the order tried."""
        ran = sorted((trial for trial in self.trials if trial.ran), key=lambda trial: trial.peak_bytes or 0)
        return (*ran, *(trial for trial in self.trials if not trial.ran))

    def lowers(self, trial: Trial) -> bool:
        """Whether a trial's peak is below the present one by more than noise; any peak is, where the present ran out."""
        if not trial.ran or trial.peak_bytes is None:
            return False
        if self.present.peak_bytes is None:
            return self.present.status is Status.OUT_OF_MEMORY
        return self.present.peak_bytes - trial.peak_bytes > max(NOISE_BYTES, NOISE_FRACTION * self.present.peak_bytes)

    @property
    def best(self) -> Trial | None:
        """What lowers the peak most."""
        return next((trial for trial in self.ranked if self.lowers(trial)), None)

    @property
    def best_for_nothing(self) -> Trial | None:
        """What lowers it most with the same outputs, batch and input, and no slower."""
        for trial in self.ranked:
            same = trial.alternative.kind in ("call", "xla", "together") and trial.alternative.open_size is None
            if self.lowers(trial) and same and trial.keeps_outputs and self._as_fast(trial) and self._same_batch(trial):
                return trial
        return None

    @property
    def message(self) -> str:
        """The answer in one or two sentences; "" while it is under way."""
        if self.status is not Status.OK:
            return self.reason
        best, free = self.best, self.best_for_nothing
        if best is None:
            return "None of what was tried lowers the peak by more than the noise of measuring."
        text = f"What lowers the peak most is {best.alternative.title}: {self._effect(best)}."
        if free is not None and free is not best:
            text += f" At no cost in outputs or time: {free.alternative.title}: {self._effect(free)}."
        return text

    def to_json(self) -> dict[str, Any]:
        """For the page and the command line; trials by rank."""
        best, free = self.best, self.best_for_nothing
        return {
            "schema_version": SCHEMA_VERSION,
            "status": self.status.value if self.status else None,
            "reason": self.reason,
            "message": self.message,
            "progress": self.progress,
            "fraction": self.fraction,
            "wall_s": self.wall_s,
            "present": self._trial_json(self.present),
            "trials": [self._trial_json(trial) for trial in self.ranked],
            "untried": [{"kind": item.kind, "reason": item.reason} for item in self.untried],
            "best": best.alternative.id if best else None,
            "best_for_nothing": free.alternative.id if free else None,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Lowered:
        """The inverse of `to_json`; trials come in the order of their rank.

        Raises:
            StethoscopeError: it does not have that shape.
        """
        nested = {key: _nested(value.get(key)) for key in ("present", "trials")}
        return decode(cls, {**value, **nested})

    def with_trial(self, trial: Trial) -> Lowered:
        """The report with a trial in place of the one of the same id, or at the end."""
        ids = [known.alternative.id for known in self.trials]
        if trial.alternative.id not in ids:
            return replace(self, trials=(*self.trials, trial))
        place = ids.index(trial.alternative.id)
        return replace(self, trials=(*self.trials[:place], trial, *self.trials[place + 1 :]))

    def _effect(self, trial: Trial) -> str:
        assert trial.peak_bytes is not None
        if self.present.peak_bytes is None:
            return f"it runs, in {trial.peak_bytes / (1 << 20):,.0f} MiB, where the present settings ran out of memory"
        return f"{self.saved_fraction(trial):.0%} less, {trial.peak_bytes / (1 << 20):,.0f} instead of {self.present.peak_bytes / (1 << 20):,.0f} MiB"

    def saved_fraction(self, trial: Trial) -> float | None:
        """By how much of the present peak a trial's is lower; None where either was not measured."""
        if not self.present.peak_bytes or trial.peak_bytes is None:
            return None
        return 1 - trial.peak_bytes / self.present.peak_bytes

    def time_ratio(self, trial: Trial) -> float | None:
        """A trial's time for each sample as a multiple of the present one; None where either was not measured."""
        now, then = trial.time_per_sample_s, self.present.time_per_sample_s
        return now / then if now is not None and then else None

    def _as_fast(self, trial: Trial) -> bool:
        ratio = self.time_ratio(trial)
        return ratio is None or ratio <= AS_FAST

    def _same_batch(self, trial: Trial) -> bool:
        return trial.alternative.settings.batch_size == self.present.alternative.settings.batch_size

    def _trial_json(self, trial: Trial) -> dict[str, Any]:
        present = self.present.peak_bytes
        saved = present - trial.peak_bytes if present is not None and trial.peak_bytes is not None else None
        return {
            "id": trial.alternative.id,
            "kind": trial.alternative.kind,
            "title": trial.alternative.title,
            "settings": trial.alternative.settings.to_json(),
            "open_size": trial.alternative.open_size,
            "status": trial.status.value if trial.status else None,
            "reason": trial.reason,
            "job_id": trial.job_id,
            "peak_bytes": trial.peak_bytes,
            "later_peak_bytes": trial.later_peak_bytes,
            "held_bytes": trial.held_bytes,
            "time_per_sample_s": trial.time_per_sample_s,
            "first_pass_s": trial.first_pass_s,
            "saved_bytes": saved,
            "saved_fraction": self.saved_fraction(trial),
            "time_ratio": self.time_ratio(trial),
            "lowers": self.lowers(trial),
            "max_abs_diff": trial.max_abs_diff,
            "relative_diff": trial.relative_diff,
            "changes_outputs": trial.alternative.changes_outputs,
        }


def _nested(value: Any) -> Any:
    """A trial, or several, with what was tried in its place: JSON has the two in one object."""
    if isinstance(value, list):
        return [_nested(item) for item in value]
    return {**value, "alternative": value} if isinstance(value, Mapping) else value


@dataclass(frozen=True)
class ModelRun:
    """One model, alone and beside the others. Sizes in bytes, times in seconds."""

    name: str
    state: str = "waiting"
    """"waiting", "alone", "together", "done"; for progress."""
    batch_size: int = 0
    predicted_bytes: int | None = None
    """The peak expected at that batch, from small batches; None where nothing could be measured."""
    alone_bytes: int | None = None
    """The peak measured when it ran alone."""
    alone_time_per_call_s: float | None = None
    share_bytes: int = 0
    asked_batch_size: int = 0
    """The batch it was given when run together: larger than `batch_size` for the model made to exceed its share."""
    status: str = ""
    """How it ended when run together: a `Status`."""
    reason: str = ""
    phase: str = ""
    peak_bytes: int | None = None
    calls: int = 0
    time_per_call_s: float | None = None
    started_s: float | None = None
    """Seconds since the first of them started, like `ended_s`."""
    ended_s: float | None = None
    same_as_alone: bool | None = None
    """Whether its outputs together were those it gave alone; None where there is nothing to compare."""
    exceeds: bool = False
    """Whether it was made to ask for more than its share."""


@dataclass(frozen=True)
class TogetherReport:
    """Several models on one card, planned and then really run."""

    runs: tuple[ModelRun, ...]
    split: Split | None = None
    at_once: int = 0
    """The most of them that were running at the same moment."""
    verdict: str = ""
    """"fit" (all finished in their shares), "contained" (those over their share died alone), "disturbed" (another one was
    affected), "not run" or "cancelled"."""
    sentence: str = ""
    codes: tuple[SharingCode, ...] = ()
    done: bool = False

    def run_of(self, name: str) -> ModelRun:
        """The run of a model by name."""
        return next(run for run in self.runs if run.name == name)


def at_once(spans: list[tuple[float, float]]) -> int:
    """The largest number of intervals (start, end) that share a moment."""
    events = sorted([(start, 1) for start, _ in spans] + [(end, -1) for _, end in spans])
    running = most = 0
    for _, step in events:
        running += step
        most = max(most, running)
    return most


def judged(runs: tuple[ModelRun, ...]) -> tuple[str, str]:
    """The verdict on runs that have ended, and the sentence that says it."""
    bad = [run for run in runs if run.status == "out_of_memory"]
    others = [run for run in runs if run not in bad]
    hurt = [run for run in others if run.status != "ok" or run.same_as_alone is False]
    if any(run.status == "cancelled" for run in runs):
        return "cancelled", "Cancelled."
    if hurt:
        names = "; ".join(f"{run.name}: {run.reason or 'its outputs differ from those it gave alone'}" for run in hurt)
        return "disturbed", f"Not all finished as they do alone. {names}"
    meant = [run for run in runs if run.exceeds and run.status == "ok"]
    if not bad and meant:
        return "fit", f"{meant[0].name} was given {meant[0].asked_batch_size:,} rows and did not exceed its share."
    if not bad:
        return (
            "fit",
            f"{'Both' if len(runs) == 2 else f'All {len(runs)}'} ran at once, each within its share, with the outputs they give alone.",
        )
    over = ", ".join(run.name for run in bad)
    if not others:
        return "contained", f"{over} exceeded the share{'s' if len(bad) > 1 else ''}; nothing else was running."
    rest = ", ".join(run.name for run in others)
    return "contained", f"{over} exceeded its share and ended alone; {rest} finished with the outputs given alone."
