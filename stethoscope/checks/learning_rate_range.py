"""Learning rate outside any usual range.

Why: each optimizer has a range in which training works for almost every network. Adam moves each weight by about the
rate itself at every step: with 1.0 the weights are gone after one. A rate of 0 changes nothing.
Example: `Adam(learning_rate=1.0)`, `SGD(learning_rate=10.0)`, `Adam(learning_rate=1e-8)`.
Fix: the optimizer's default.
Limits: when the short training run shows that the rate works, this is only a remark.
Source: Bengio, Practical recommendations for gradient-based training (2012), section 3.1.1: 1e-6 to 1 for SGD;
Keras' defaults; NeuraLint (TOSEM 2021), rule on learning rates.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.architecture.losses import snake
from stethoscope.checks.check import BADLY_TRAINED, UNSTEADY_LOSS, WILD_UPDATES, Check
from stethoscope.checks.curves.short_run import helped, learns_nothing
from stethoscope.checks.findings import Fault, Finding, Number, Severity
from stethoscope.checks.fixes.compile_and_fit import SetLearningRate
from stethoscope.evidence.kinds import Evidence, EvidenceSet

_RANGES = {
    "sgd": (1e-6, 1.0, 0.01),
    "adam": (1e-7, 0.1, 1e-3),
    "adamw": (1e-7, 0.1, 1e-3),
    "nadam": (1e-7, 0.1, 1e-3),
    "adamax": (1e-7, 0.2, 1e-3),
    "rmsprop": (1e-7, 0.1, 1e-3),
    "adagrad": (1e-5, 1.0, 1e-2),
    "adadelta": (1e-4, 10.0, 1.0),
    "ftrl": (1e-6, 1.0, 1e-3),
    "lion": (1e-8, 0.01, 1e-4),
    "lamb": (1e-7, 0.1, 1e-3),
}
"""(lowest usual, highest usual, what to start from)."""


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    optimizer, rate = _settings(evidence)
    if rate is None:
        return
    low, high, usual = _RANGES.get(snake(optimizer), (1e-8, 10.0, 1e-3))
    name = optimizer or "the optimizer"
    if rate <= 0:
        said = "nothing is ever learned" if rate == 0 else "every step goes the wrong way"
        yield _finding(name, rate, usual, Severity.CRITICAL, 0.98, f"a learning rate of {rate:g}, so {said}", 0.0)
    elif rate > high:
        said = f"a learning rate of {rate:g}, far above the usual ({usual:g}; at most {high:g}): its steps overshoot"
        yield _finding(name, rate, usual, _severity(evidence, "rate-down"), 0.7, said, high)
    elif rate < low:
        said = f"a learning rate of {rate:g}, far below the usual ({usual:g}; at least {low:g}): it hardly moves"
        yield _finding(name, rate, usual, _severity(evidence, "rate-up"), 0.7, said, low)


def _settings(evidence: EvidenceSet) -> tuple[str, float | None]:
    compiled = evidence.architecture.compile if evidence.architecture else None
    fit = evidence.fit
    optimizer = (fit.optimizer if fit and fit.optimizer else None) or (compiled.optimizer if compiled else None) or ""
    if fit is not None and fit.learning_rate is not None:
        return optimizer, fit.learning_rate
    # The file's rate belongs to the file's optimizer.
    own = compiled is not None and (not fit or not fit.optimizer or fit.optimizer == compiled.optimizer)
    return optimizer, compiled.learning_rate if compiled is not None and own else None


def _severity(evidence: EvidenceSet, trial: str) -> Severity:
    training = evidence.training
    if training is None or not training.base:
        return Severity.MEDIUM
    helps = helped(training, trial) or helped(training, f"{trial}-100")
    if learns_nothing(training):
        return Severity.HIGH if helps else Severity.MEDIUM
    return Severity.MEDIUM if helps else Severity.LOW


def _finding(name: str, rate: float, usual: float, severity: Severity, sure: float, said: str, limit: float) -> Finding:
    return Finding(
        fault=Fault.LEARNING_RATE,
        severity=severity,
        confidence=sure,
        where="optimizer",
        message=f"{name} has {said}. Start from {usual:g}.",
        evidence=(Number("learning rate", rate, threshold=limit),),
        fix=SetLearningRate(learning_rate=usual, was=rate, optimizer=name),
    )


CHECK = Check(
    needs=frozenset({Evidence.ARCHITECTURE}),
    run=_run,
    uses=frozenset({Evidence.FIT, Evidence.TRAINING}),
    explains=BADLY_TRAINED
    | UNSTEADY_LOSS
    | WILD_UPDATES
    | {"fit-small-batch", "learning-rate-high", "learning-rate-low", "saturation", "unchanged-weights"},
)
