"""Training and use do not agree.

Why: batch normalisation remembers means and variances while training. When what it remembers is far from what your data
gives, the network behaves in use as it never did while training: good training scores, bad predictions.
Example: batches of 1 or 2 rows; a momentum so high that a short training never gets there; data scaled in another way
than while training.
Fix: larger batches, `momentum=0.9`, the same preprocessing as while training.
Limits: asked of trained models on data only.
Source: Ioffe, Batch Renormalization (2017), on the difference between training and inference. Thresholds: 5 standard
deviations, 25 times the variance; on 8 rows chance alone stays below 2 and 5.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from stethoscope.checks.check import Check
from stethoscope.checks.findings import Bars, Fault, Finding, Mark, Number, Severity
from stethoscope.checks.fixes.fix import Advice
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.evidence.model import BehaviourTest

_SHIFT = 5.0
_RATIO = 25.0
_WORDS = "Scale the input as while training, or train with larger batches and momentum=0.9"


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    test = evidence.behaviour.test("train-vs-inference") if evidence.behaviour else None
    if test is None:
        return
    if test.passed is False:
        yield Finding(
            fault=Fault.DETERMINISM,
            severity=Severity.MEDIUM,
            confidence=0.6,
            where=test.layer or "model",
            message=test.detail,
            evidence=(Number("largest difference", test.max_abs_diff or 0.0, threshold=0.0),),
            fix=Advice(text="Check every layer's use of the argument training in call()"),
        )
        return
    real = evidence.behaviour is not None and evidence.behaviour.source == "data"
    if real and evidence.weights is not None and evidence.weights.trained:
        yield from _statistics(test)


def _statistics(test: BehaviourTest) -> Iterator[Finding]:
    found = [item for item in test.values.get("batch_normalisation", ()) if isinstance(item, Mapping)]
    apart = [item for item in found if _number(item, "mean_shift") > _SHIFT or _number(item, "variance_ratio") > _RATIO]
    if not apart or not test.max_abs_diff:
        return
    first = apart[0]
    shift, ratio = _number(first, "mean_shift"), _number(first, "variance_ratio")
    far = shift > 4 * _SHIFT or ratio > 16 * _RATIO
    yield Finding(
        fault=Fault.PREPROCESSING,
        severity=Severity.HIGH if far else Severity.MEDIUM,
        confidence=0.7,
        where=str(first.get("layer", "")),
        message=(
            f"On your data {first.get('layer')} sees means up to {shift:.3g} remembered standard deviations away and variances "
            f"up to {ratio:.3g} times the remembered ones, so the model is used on something else than it was trained on. {_WORDS}."
        ),
        evidence=(
            Bars(
                "Distance from the remembered mean",
                "standard deviations",
                tuple(str(item.get("layer")) for item in found[:20]),
                tuple(_number(item, "mean_shift") for item in found[:20]),
                (Mark(_SHIFT, "far"),),
            ),
            Number("outputs differ between the modes by up to", test.max_abs_diff),
        ),
        fix=Advice(text=_WORDS, snippet="layers.BatchNormalization(momentum=0.9)"),
    )


def _number(item: Mapping[str, Any], key: str) -> float:
    value = item.get(key)
    return float(value) if isinstance(value, int | float) else 0.0


CHECK = Check(needs=frozenset({Evidence.BEHAVIOUR}), run=_run, uses=frozenset({Evidence.WEIGHTS}))
