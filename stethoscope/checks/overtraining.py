"""Trained past its best.

Why: after some epoch the network goes on learning the training rows by heart and gets worse on others. What is kept at the
end is not the best it was.
Example: validation loss lowest at epoch 8, twice as high at epoch 50.
Fix: early stopping that keeps the best weights.
Limits: at most MEDIUM, and only a remark when the validation score suffers little: a validation loss may rise while the
accuracy stays.
Source: Prechelt, Early stopping – but when? (1998); SageMaker Debugger, rule Overtraining. Thresholds: ours.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.check import Check
from stethoscope.checks.curves.log_pictures import curve, losses_of, span
from stethoscope.checks.curves.log_shape import learns_nothing, shape_of
from stethoscope.checks.curves.shapes import Turn, end_level, finite, slope, turning_point
from stethoscope.checks.findings import Fault, Finding, Mark, Number, Severity
from stethoscope.checks.fixes.compile_and_fit import EarlyStopping
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.logs.better import is_share
from stethoscope.logs.curves import CurveEvidence

_RISE = 0.25
"""Share of the depth reached that the validation loss must lose again."""
_LARGE_RISE = 1.0
_HARM = 0.1
"""Validation score lost since its best that makes it a defect and not a remark."""
_LEAST_ROWS = 50


_SOME_HARM = 0.05
_HALF = 0.5
_FALLS = 0.02


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    if evidence.logs is not None:
        yield from _of_log(evidence.logs)
        return
    found = [one for one in evidence.curves if len(one.val_loss) >= 5 and len(one.val_steps) == len(one.val_loss)]
    turned = [(one, turn) for one in found if (turn := turning_point(one.val_loss)) and _overtrains(one, turn)]
    if not turned or len(turned) * 2 <= len(found):
        return
    one, turn = turned[0]
    harm = _harm(one)
    few = one.source == "short run" and evidence.training is not None and evidence.training.val_rows < _LEAST_ROWS
    harmed = turn.rise >= _LARGE_RISE if harm is None else harm >= _HARM
    at = one.val_steps[turn.index]
    cost = f" and {one.metric_name or 'the score'} lost {harm:.2f}" if harm and harm > 0.005 else ""
    yield Finding(
        fault=Fault.EPOCHS,
        severity=Severity.MEDIUM if harmed and not few else Severity.LOW,
        confidence=0.6 if harmed else 0.4,
        where="fit",
        message=(
            f"The validation loss is lowest at {one.unit} {at:,.0f} ({turn.lowest:.3g}) and {end_level(one.val_loss):.3g} at "
            f"the end{cost}, while the training loss goes on falling: the rest of the training did harm."
        ),
        evidence=(
            curve(one, Mark(at, "best")),
            Number("share of the gain that was lost again", turn.rise, threshold=_RISE),
        ),
        fix=EarlyStopping(patience=max(3, round(0.1 * len(one.val_loss)))),
    )


def _of_log(logged: CurveEvidence) -> Iterator[Finding]:
    one = logged.overview
    turn = turning_point(one.val_loss) if len(one.val_loss) >= 5 and len(one.val_steps) == len(one.val_loss) else None
    shape = shape_of(logged)
    if turn is None or shape.fall < _FALLS or learns_nothing(shape) or not _overtrains(one, turn):
        return
    harm = _harm(one)
    # Without a score, half of what the loss had gained must be lost again; with one, all of it, or the score must suffer.
    harmed = turn.rise >= (_HALF if harm is None else _LARGE_RISE) or (harm or 0.0) >= _SOME_HARM
    at = one.val_steps[turn.index]
    cost = f" and {one.metric_name or 'the score'} lost {harm:.2f}" if harm and harm > 0.005 else ""
    yield Finding(
        fault=Fault.EPOCHS,
        severity=Severity.MEDIUM if harmed else Severity.LOW,
        confidence=0.6 if harmed else 0.4,
        where="fit",
        message=(
            f"The validation loss is lowest at {one.unit} {at:,.0f} ({turn.lowest:.3g}) and {end_level(one.val_loss):.3g} at "
            f"the end{cost}, while the training loss goes on falling: the rest of the training did harm."
        ),
        evidence=(
            losses_of(logged, Mark(at, "best")),
            Number("share of the gain that was lost again", min(turn.rise, 1e6), threshold=_RISE),
        ),
        fix=EarlyStopping(patience=max(3, round(0.1 * len(one.val_loss)))),
        marks=span(logged, "val_loss", at, "validation turns", one.val_steps[-1]),
    )


def _overtrains(found: CurveEvidence, turn: Turn) -> bool:
    """Whether the validation loss rises for real after its turn while the training loss falls."""
    since = found.val_steps[turn.index]
    after = [value for step, value in zip(found.steps, found.loss, strict=False) if step >= since]
    return turn.rise >= _RISE and len(finite(after)) >= 2 and slope(after) < 0


def _harm(found: CurveEvidence) -> float | None:
    known = finite(found.val_metric)
    if len(known) < 5 or not is_share(found.metric_name):
        return None
    smooth = [
        sorted(known[max(0, at - 1) : at + 2])[len(known[max(0, at - 1) : at + 2]) // 2] for at in range(len(known))
    ]
    return max(smooth) - end_level(known)


CHECK = Check(needs_any=frozenset({Evidence.LOGS, Evidence.TRAINING}), run=_run, explains=frozenset({"overfitting"}))
