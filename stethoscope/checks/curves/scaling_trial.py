"""What the short training says about a scaling rule: shown to matter, shown not to matter, or not known."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from stethoscope.checks.judging.findings import Curves, EvidenceItem, Line, Number, Severity
from stethoscope.evidence.training import TrainingEvidence, Trial

MUCH = 0.2
"""A gain in skill (1 is perfect, 0 is chance) that makes a program's result wrong rather than improvable."""
NOTHING = 0.1
WELL = 0.9
FAIR = 0.5


@dataclass(frozen=True)
class Judgement:
    """How to put a scaling finding."""

    severity: Severity
    confidence: float
    sentence: str
    evidence: tuple[EvidenceItem, ...]
    trial: str
    """The trial that showed it, "" when none did."""

    @property
    def shown(self) -> bool:
        """Whether a measured run stands behind it."""
        return bool(self.trial)


def judge(training: TrainingEvidence | None, alone: str, other: str, bad: bool, noted: bool) -> Judgement | None:
    """Returns the severity of values whose scale is `bad` by rule (or merely worth a note); None to stay silent.

    A trial that helps shows it: `alone`, or inputs and targets together where the `other` alone did not do it. Without one, a bad scale is MEDIUM, unless the program
    was seen to learn, or scaling was seen to change nothing.
    """
    if training is None or not _ran(training):
        if not bad:
            return Judgement(Severity.LOW, 0.4, "", (), "") if noted else None
        return Judgement(Severity.MEDIUM, 0.6, "", (), "")
    tried = _tried(training, alone, other)
    helping = next((trial for trial in tried if trial.helps and trial.effect > 0), None)
    if helping is not None:
        return _shown(training, helping, bad)
    if not bad:
        return Judgement(Severity.LOW, 0.4, "", (), "") if noted else None
    faster = next((trial for trial in tried if _lowers_loss(trial)), None)
    if faster is not None:
        sentence = f"With scaled values the same training ends at {faster.loss_ratio:.2g} of the loss."
        return Judgement(Severity.MEDIUM, 0.6, sentence, _pictures(training, faster), faster.id)
    if training.skill >= WELL or (tried and training.skill >= FAIR):
        sentence = "Here the model learns all the same."
        return Judgement(
            Severity.LOW, 0.5, sentence, (Number(f"{training.score_name} at the end", _score(training)),), ""
        )
    return Judgement(Severity.MEDIUM, 0.5, "", (), "")


def _tried(training: TrainingEvidence, alone: str, other: str) -> list[Trial]:
    found = [trial for trial in (training.trial(alone), training.trial("scale-both")) if trial is not None]
    rival = training.trial(other)
    if rival is None or not rival.helps:
        return found
    return [trial for trial in found if trial.id != "scale-both" or trial.effect >= rival.effect + NOTHING]


def _ran(training: TrainingEvidence) -> bool:
    """Whether the base runs got far enough to say anything: an epoch, or NaN before it."""
    return bool(training.base) and all(run.epochs_done >= 1 or run.stopped == "non-finite" for run in training.base)


def _shown(training: TrainingEvidence, trial: Trial, bad: bool) -> Judgement:
    before = training.skill
    # A program that is nearly as good as it can be has little to gain: MEDIUM, however sure.
    wrong = trial.effect >= MUCH or (before <= NOTHING and trial.effect > NOTHING)
    severity = Severity.HIGH if wrong else Severity.MEDIUM
    after = sum(run.final.score for run in trial.runs) / len(trial.runs) if trial.runs else float("nan")
    sentence = f"Scaled, the same training ends at {training.score_name} {after:.3g} instead of {_score(training):.3g}."
    return Judgement(severity, 0.9 if bad else 0.75, sentence, _pictures(training, trial), trial.id)


def _lowers_loss(trial: Trial) -> bool:
    return trial.loss_ratio is not None and trial.loss_ratio <= 0.5 and not trial.worse and trial.effect >= 0


def _score(training: TrainingEvidence) -> float:
    return sum(run.final.score for run in training.base) / len(training.base) if training.base else float("nan")


def _pictures(training: TrainingEvidence, trial: Trial) -> tuple[EvidenceItem, ...]:
    """The loss of both, where scaling leaves it comparable, and the gain."""
    gain = Number("gain in skill", trial.effect, threshold=MUCH)
    if trial.id != "scale-inputs":
        return (gain,)
    lines = [
        Line(f"{name}, seed {run.seed}", tuple(map(float, run.epochs)), run.epoch_loss, name)
        for name, runs in (("as it is", training.base), ("scaled", trial.runs))
        for run in runs
        if run.epoch_loss
    ]
    if {line.group for line in lines} != {"as it is", "scaled"}:
        return (gain,)
    return Curves("The same training with scaled inputs", "epoch", "loss", tuple(lines), log_y=_wide(lines)), gain


def _wide(lines: Sequence[Line]) -> bool:
    values = [y for line in lines for y in line.y if math.isfinite(y)]
    return bool(values) and min(values) > 0 and max(values) > 50 * min(values)
