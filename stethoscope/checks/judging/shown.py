"""What the short training run shows, in the words that checks by rule weigh their findings with."""

from __future__ import annotations

from collections.abc import Sequence

from stethoscope.checks.findings import Severity
from stethoscope.evidence.training import TrainingEvidence

WELL = 0.9
"""Share of what is possible beyond chance: a program that reaches it works, whatever rule it breaks."""
NOTHING = 0.1


def learns_well(training: TrainingEvidence | None) -> bool:
    """Whether the program as it is reaches nearly all that is possible."""
    return training is not None and bool(training.base) and training.skill >= WELL


def learns_nothing(training: TrainingEvidence | None) -> bool:
    """Whether the program as it is ends no better than chance, or with NaN. A run that time cut short cannot tell."""
    if training is None or not training.base:
        return False
    return (training.complete and training.skill <= NOTHING) or any(
        run.stopped == "non-finite" for run in training.base
    )


def helped(training: TrainingEvidence | None, trial_id: str) -> bool:
    """Whether the trial was run and its change helped."""
    trial = None if training is None else training.trial(trial_id)
    return trial is not None and trial.helps


def weighed(training: TrainingEvidence | None, trial_id: str = "", usual: Severity = Severity.MEDIUM) -> Severity:
    """The severity of a defect by rule: `usual` without evidence of harm, HIGH when nothing is learned and undoing it
    (the trial) helps, LOW when the program works all the same.
    """
    if learns_well(training) and not helped(training, trial_id):
        return Severity.LOW
    if learns_nothing(training) and helped(training, trial_id):
        return max(usual, Severity.HIGH)
    return usual


def listed(names: Sequence[str], most: int = 3) -> str:
    """Some names in a sentence: "a, b and c", "a, b, c and 4 more"."""
    shown = list(names[:most])
    more = len(names) - len(shown)
    if more:
        return f"{', '.join(shown)} and {more} more"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
