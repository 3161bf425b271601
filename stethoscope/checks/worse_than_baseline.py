"""A simple model is better.

Why: a network that does worse than logistic regression or boosted trees on the same rows is not yet worth its cost:
something in its training is wrong, or the simple model is the right one.
Example: a network at accuracy 0.71, logistic regression at 0.93.
Fix: find out why (the other findings); if nothing else helps, use the simple model.
Thresholds: the 95 % intervals are apart by 0.2: HIGH; by 0.1: MEDIUM; by 0.02: LOW; and only if the network had all its
epochs (else it has no score); LOW where the short training comes near the simple model. Otherwise nothing: on many tables a few hundredths are what trees are simply better at.
Source: Grinsztajn, Oyallon and Varoquaux, Why do tree-based models still outperform deep learning on tabular data?
(NeurIPS 2022); Efron and Tibshirani, An introduction to the bootstrap (1993).
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.check import Check
from stethoscope.checks.findings import Bars, Fault, Finding, Severity, Table
from stethoscope.checks.fixes.fix import Advice
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.evidence.trials import BaselineEvidence

_FAR, _APART, _NOTED = 0.2, 0.1, 0.02
_ROWS = 30
NETWORK = "this network"
_CODE = {
    "logistic regression": "from sklearn.linear_model import LogisticRegression as Model",
    "linear regression": "from sklearn.linear_model import Ridge as Model",
    "gradient boosting": "from sklearn.ensemble import HistGradientBoostingClassifier as Model",
}


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    baseline = evidence.baseline
    network = baseline.score(NETWORK) if baseline is not None else None
    if baseline is None or network is None or baseline.test_rows < _ROWS or network.value != network.value:
        return
    best = max(baseline.simple, key=lambda score: score.low, default=None)
    apart = 0.0 if best is None else best.low - network.high
    if best is None or apart < _NOTED:
        return
    again = _trained_anew(evidence, baseline)
    stale = again is not None and again >= best.low - _APART
    severity = Severity.HIGH if apart >= _FAR else Severity.MEDIUM if apart >= _APART else Severity.LOW
    said = "the network does not make use of what is in the data"
    if stale:
        severity, said = (
            Severity.LOW,
            f"yet trained anew it reaches {again:.3g}, so the weights in the file are what is behind",
        )
    table = Table(
        f"{baseline.metric} on {baseline.test_rows:,} rows that none was trained on",
        ("model", baseline.metric, "95 % from", "to"),
        tuple((score.model, score.value, score.low, score.high) for score in baseline.scores),
    )
    bars = Bars(
        f"{baseline.metric} of each model",
        baseline.metric,
        tuple(score.model for score in baseline.scores),
        tuple(score.value for score in baseline.scores),
    )
    regression = baseline.metric == "r2"
    code = _CODE.get(best.model, "").replace("Classifier", "Regressor" if regression else "Classifier")
    snippet = f"{code}\n\nprint(Model().fit(x_train, y_train).score(x_test, y_test))" if code else ""
    yield Finding(
        fault=Fault.ARCHITECTURE,
        severity=severity,
        confidence=0.6,
        where="data",
        message=(
            f"{best.model.capitalize()} reaches {baseline.metric} {best.value:.3g} on rows held back, this network "
            f"{network.value:.3g}: {said}."
        ),
        evidence=(bars, table),
        fix=Advice(
            text=f"Find out what holds the network back, or use {best.model}, which is better here.", snippet=snippet
        ),
    )


def _trained_anew(evidence: EvidenceSet, baseline: BaselineEvidence) -> float | None:
    """The score of the short training, on its validation rows where it has some; None when it is another score."""
    training = evidence.training
    if training is None or not training.base:
        return None
    if not baseline.scored_as(training.score_name, training.score_output):
        return None
    ends = [run.final.score if run.final.val_score is None else run.final.val_score for run in training.base]
    return sum(ends) / len(ends)


CHECK = Check(
    needs=frozenset({Evidence.BASELINE}), run=_run, uses=frozenset({Evidence.TRAINING}), symptom=True, outcome=True
)
