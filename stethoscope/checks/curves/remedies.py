"""What the trials of one training say against each other: which single change would have helped, and by how much.

An intervention says more than a symptom: a loss that falls slowly may have a rate too small, too few epochs or inputs of
the wrong size; the one whose change helps is named. All gains are in skill (0 chance, 1 perfect), cut off below 0 so that
going from absurd to useless is no gain.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from stethoscope.checks.findings import Curves, EvidenceItem, Line, Number, Severity
from stethoscope.evidence.training import RunCurve, TrainingEvidence, Trial

Kind = Literal[
    "rate-up",
    "rate-down",
    "epochs",
    "batch",
    "optimizer",
    "scaling",
    "activation",
    "initialisation",
    "capacity",
    "other",
]

_KINDS: dict[str, Kind] = {
    "longer": "epochs",
    "rate-up": "rate-up",
    "rate-up-100": "rate-up",
    "rate-down": "rate-down",
    "rate-down-100": "rate-down",
    "adam": "optimizer",
    "batch-32": "batch",
    "scale-inputs": "scaling",
    "scale-targets": "scaling",
    "scale-both": "scaling",
    "relu-hidden": "activation",
    "default-init": "initialisation",
    "wider": "capacity",
}
LEAST_GAIN = 0.1
"""Skill a change must add to count. Source: ours, tuned on the benchmark's given and dev cases."""
LEAST_REDUCTION = 0.3
"""Share of the remaining error it must remove; keeps a repaired program that could gain a little more out of it."""
GOOD_SKILL = 0.9
"""A base run this good needs no other settings."""
NOTHING_LEARNED = 0.1
CLEARLY_WORKS = 0.5
AS_GOOD = 0.8
"""A second change is named beside the best when its gain is at least this share of the best one's."""

DEFAULT_RATES = {
    **dict.fromkeys(
        ("adam", "adamw", "nadam", "adamax", "rmsprop", "adagrad", "adadelta", "ftrl", "lion", "adafactor", "muon"),
        1e-3,
    ),
    "sgd": 1e-2,
}
"""Keras' own defaults. Source: keras.io/api/optimizers."""


@dataclass(frozen=True)
class Remedy:
    """One trial as a remedy."""

    kind: Kind
    trial: Trial
    before: float
    after: float
    """Skill without and with the change: on validation rows when both runs have them, else on training rows."""
    gain: float
    """The smaller of the gains on training and on validation rows: a change of settings must help both."""
    validated: bool
    """Whether the gain was seen on rows that were not trained on."""

    @property
    def reduction(self) -> float:
        """Share of the remaining error that it removes."""
        left = 1.0 - self.before
        return self.gain / left if left > 1e-6 else 0.0

    @property
    def substantial(self) -> bool:
        """Whether it helps enough to say that what it changes was wrong."""
        return (
            self.trial.helps
            and not self.trial.worse
            and self.gain >= LEAST_GAIN
            and self.reduction >= LEAST_REDUCTION
            and self.gain > self.trial.spread / 2
        )

    @property
    def rescues(self) -> bool:
        """Whether it turns nothing learned into something that clearly works, on rows not trained on."""
        return self.validated and self.before <= NOTHING_LEARNED and self.after >= CLEARLY_WORKS


def remedies(training: TrainingEvidence) -> tuple[Remedy, ...]:
    """Every trial as a remedy, greatest gain first."""
    found = [_remedy(training, trial) for trial in training.trials if trial.runs]
    return tuple(sorted(found, key=lambda remedy: -remedy.gain))


def best(found: Iterable[Remedy], *kinds: Kind) -> Remedy | None:
    """The substantial remedy of these kinds with the greatest gain.

    A more drastic change of the same number (rate × 100 for × 10) is preferred only when it gains clearly more.
    """
    chosen = [remedy for remedy in found if remedy.kind in kinds and remedy.substantial]
    if not chosen:
        return None
    top = max(remedy.gain for remedy in chosen)
    mild = [remedy for remedy in chosen if not remedy.trial.id.endswith("-100") and remedy.gain >= 0.9 * top]
    return max(mild or chosen, key=lambda remedy: remedy.gain)


def gain_of(remedy: Remedy | None) -> float:
    """Its gain; 0 for none."""
    return 0.0 if remedy is None else remedy.gain


def base_skill(training: TrainingEvidence) -> float:
    """Skill of the base runs on training rows, 0 … 1."""
    return _mean(_skill(run.final.skill) for run in training.base)


def broke(training: TrainingEvidence) -> bool:
    """Whether a base run ended in NaN or infinity."""
    return any(run.nonfinite_step is not None or run.stopped == "non-finite" for run in training.base)


def usual_rate(optimizer: str) -> float | None:
    """Keras' default rate of this optimizer, by its class name in any case."""
    return DEFAULT_RATES.get(optimizer.lower().replace("_", ""))


def data_explains(found: Sequence[Remedy], remedy: Remedy) -> bool:
    """Whether scaling the data, or starting from default weights, helps about as much: then that is the cause."""
    rivals = [other for other in found if other.kind in ("scaling", "initialisation") and other.substantial]
    return any(other.gain >= AS_GOOD * remedy.gain for other in rivals)


def _remedy(training: TrainingEvidence, trial: Trial) -> Remedy:
    by_seed = {run.seed: run for run in training.base}
    pairs = [(by_seed[run.seed], run) for run in trial.runs if run.seed in by_seed]
    trained = _paired(pairs, validation=False)
    checked = _paired(pairs, validation=True)
    before, after = checked or trained or (0.0, 0.0)
    gains = (
        [after_ - before_ for before_, after_ in (trained, checked) if True]
        if trained and checked
        else [after - before]
    )
    return Remedy(_KINDS.get(trial.id, "other"), trial, before, after, min(gains), checked is not None)


def _paired(pairs: Sequence[tuple[RunCurve, RunCurve]], *, validation: bool) -> tuple[float, float] | None:
    if not pairs:
        return None
    found = []
    for run, changed in pairs:
        scores = [one.final.val_skill if validation else one.final.skill for one in (run, changed)]
        if validation and any(score is None for score in scores):
            return None
        found.append(tuple(_skill(score) for score in scores))
    return _mean(pair[0] for pair in found), _mean(pair[1] for pair in found)


def _skill(value: float | None) -> float:
    return 0.0 if value is None or not math.isfinite(value) else min(1.0, max(0.0, value))


def _mean(values: Iterable[float]) -> float:
    known = list(values)
    return sum(known) / len(known) if known else 0.0


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
            Severity.LOW, 0.5, sentence, (Number(f"{training.score_title} at the end", _score(training)),), ""
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
    sentence = (
        f"Scaled, the same training ends at {training.score_title} {after:.3g} instead of {_score(training):.3g}."
    )
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
