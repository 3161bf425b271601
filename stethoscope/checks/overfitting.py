"""Learned by heart: good on training rows, much worse on others.

Why: with more weights than the rows can pin down, a network learns single rows instead of what they have in common.
Example: accuracy 0.99 in training, 0.65 in validation.
Fix: dropout or a weight penalty; more rows help more than either.
Limits: needs validation data. A validation score at chance is not called overfitting: then the split, the labels or the
preprocessing differ.
Source: SageMaker Debugger, rule Overfit (ratio 0.1); thresholds in skill: ours.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from stethoscope.checks.check import Check
from stethoscope.checks.curves.log_pictures import curve, losses_of, scores_of, span
from stethoscope.checks.curves.log_shape import Pair, shape_of
from stethoscope.checks.curves.remedies import GOOD_SKILL
from stethoscope.checks.findings import Fault, Finding, Number, Severity
from stethoscope.checks.fixes.layer_settings import AddRegularisation
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.logs.curves import CurveEvidence

_GAP, _LARGE_GAP = 0.15, 0.3
_CHANCE = 0.05
_LEAST_ROWS = 50
_REGULARISING = ("Dropout", "SpatialDropout", "GaussianDropout", "GaussianNoise", "AlphaDropout", "BatchNormalization")


_SMALL_GAP, _CLEAR_GAP = 0.1, 0.12
_WELL = 0.9
_ERRORS = 3.0
"""Times as many errors on validation rows as on training rows."""
_LOST = 0.3
"""Without a score: share of what the training loss has gained that the validation loss has not."""


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    if evidence.logs is not None:
        yield from _of_log(evidence, evidence.logs)
        return
    found = [(one, scores) for one in evidence.curves if (scores := _scores(evidence, one)) is not None]
    apart = [(one, train, held) for one, (train, held) in found if train - held >= _GAP and held > _CHANCE]
    if not apart or len(apart) * 2 <= len(found):
        return
    one, train, held = min(apart, key=lambda item: item[1] - item[2])
    rows = evidence.training.val_rows if evidence.training is not None else None
    layers = evidence.architecture.layers if evidence.architecture is not None else ()
    free = not any(layer.type.startswith(_REGULARISING) for layer in layers)
    clear = train >= GOOD_SKILL and train - held >= _LARGE_GAP and free and (rows is None or rows >= _LEAST_ROWS)
    yield Finding(
        fault=Fault.REGULARISATION,
        severity=Severity.MEDIUM if clear else Severity.LOW,
        confidence=0.5 if clear else 0.35,
        where="fit",
        message=(
            f"Skill is {train:.2f} on training rows and {held:.2f} on validation rows: part of what it "
            "learned holds only for the rows it has seen."
        ),
        evidence=(curve(one), Number("gap", train - held, threshold=_GAP)),
        fix=AddRegularisation(method="dropout", rate=0.3),
    )


def _of_log(evidence: EvidenceSet, curve: CurveEvidence) -> Iterator[Finding]:
    shape = shape_of(curve)
    pairs = shape.score_pairs or shape.loss_pairs
    if len(pairs) < 3:
        return
    last = pairs[-max(1, len(pairs) // 10) :]
    train, held = (statistics.median(values) for values in zip(*((one.train, one.held) for one in last), strict=True))
    if shape.score_pairs:
        apart = train - held
        if apart < _SMALL_GAP or held <= _CHANCE or (1 - held) < _ERRORS * (1 - train):
            return
        clear = train >= _WELL and apart >= _CLEAR_GAP
        name, measure = curve.metric_name, Number("gap", apart, threshold=_SMALL_GAP)
        picture = scores_of(curve)
    else:
        gained = shape.start - train
        apart = (held - train) / gained if gained > 0 else 0.0
        if apart < _LOST or shape.fall < 0.3:
            return
        clear, name, picture = apart >= _LOST, "the loss", losses_of(curve)
        measure = Number("share of the gain that validation rows do not have", apart, threshold=_LOST)
    at = _parted(pairs, higher=bool(shape.score_pairs))
    layers = evidence.architecture.layers if evidence.architecture is not None else ()
    free = not any(layer.type.startswith(_REGULARISING) for layer in layers)
    since = f" They part at {curve.unit} {at:,.0f}." if at is not None else ""
    yield Finding(
        fault=Fault.REGULARISATION,
        severity=Severity.MEDIUM if clear and free else Severity.LOW,
        confidence=0.55 if clear else 0.35,
        where="fit",
        message=(
            f"{name[:1].upper() + name[1:]} is {train:.3g} on training rows and {held:.3g} on validation rows: part of what it "
            f"learned holds only for the rows it has seen.{since}"
        ),
        evidence=(picture, measure),
        fix=AddRegularisation(method="dropout", rate=0.3),
        marks=() if at is None else span(curve, "val_loss", at, "validation stays behind", pairs[-1].step),
    )


def _parted(pairs: Sequence[Pair], *, higher: bool) -> float | None:
    """The step from which validation is behind by half of the final gap or more; None when it always was."""
    gaps = [one.train - one.held if higher else one.held - one.train for one in pairs]
    half = statistics.median(gaps[-3:]) / 2
    behind = next((at for at in range(len(gaps)) if min(gaps[at:]) >= half), None)
    return None if not behind else pairs[behind].step


def _scores(evidence: EvidenceSet, found: CurveEvidence) -> tuple[float, float] | None:
    """(training, validation) score at the end of a run, where both are known."""
    runs = [run for run in evidence.training.base if f"seed {run.seed}" == found.run] if evidence.training else []
    if not runs or runs[0].final.val_skill is None:
        return None
    return max(0.0, runs[0].final.skill), max(0.0, runs[0].final.val_skill)


CHECK = Check(
    title="Learned by heart",
    needs_any=frozenset({Evidence.LOGS, Evidence.TRAINING}),
    run=_run,
    uses=frozenset({Evidence.ARCHITECTURE}),
)
