"""The loss jumps.

Why: a loss that falls for epochs and stands much higher the next moment has not been trained into that: something around it
changed. The rate was raised, the data or labels are others from there on, weights were lost, or rows come in order, so that each
class undoes what was learned of the one before.
Example: labels coded anew for the second half of a training; `shuffle=False` on rows sorted by class.
Fix: depends on what changed at that step: the schedule, the data, the weights that were loaded. For rows in order, shuffle.
Limits: single points that stand out and come back at once are noise or one bad batch, and are not named.
Source: Bengio, Practical recommendations (2012), section 3.1.2, on shuffling; Goyal et al., Accurate, large minibatch SGD
(2017), on rates that rise. Thresholds: ours, in units of the noise from point to point.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterator, Sequence

from stethoscope.checks.check import Check
from stethoscope.checks.curves.jumps import Jump, Saw, as_logged, jumps, saw
from stethoscope.checks.curves.log_pictures import losses_of, lower_rate, span
from stethoscope.checks.curves.log_shape import LogShape, shape_of
from stethoscope.checks.curves.shapes import runs_away
from stethoscope.checks.findings import Fault, Finding, Mark, Number, Severity, Span
from stethoscope.checks.fixes.compile_and_fit import SetShuffle
from stethoscope.checks.fixes.fix import Advice, Fix
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.logs.curves import CurveEvidence

_RAISED = 1.5
_STAYS = 3
"""Validations for which it is above the level before, where the training loss does not jump."""
_FRESH = 0.6
"""A loss that jumps back to this share of where it began has lost what was learned."""


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    if evidence.logs is None:
        return
    curve = evidence.logs
    shape = shape_of(curve)
    found = saw(curve.steps, curve.loss)
    if found is not None:
        yield _in_order(curve, found)
        return
    sudden = _sudden(curve, shape.points, curve.steps, curve.loss)
    if len(shape.loss) < len(shape.curve.loss) or runs_away(shape.loss):
        return  # what jumps before it runs away or stops being a number is named with that
    if sudden:
        yield _jumped(curve, shape, "loss", sudden)
        return
    held = [one for one in zip(shape.curve.val_steps, shape.curve.val_loss, strict=False) if math.isfinite(one[1])]
    sudden = [jump for jump in _sudden(curve, held, curve.val_steps, curve.val_loss) if _stays(jump, held)]
    if sudden:
        yield _jumped(curve, shape, "val_loss", sudden)


def _sudden(
    curve: CurveEvidence, points: Sequence[tuple[float, float]], steps: Sequence[float], values: Sequence[float]
) -> list[Jump]:
    """The jumps among (step, mean) points, with the values that were logged; not those where the run was begun anew."""
    thinned, means = [step for step, _ in points], [value for _, value in points]
    begun_anew = {restart.step for restart in curve.restarts}
    found = [as_logged(jump, thinned, steps, values) for jump in jumps(thinned, means)]
    return [jump for jump in found if jump.step not in begun_anew]


def _stays(jump: Jump, points: Sequence[tuple[float, float]]) -> bool:
    """Whether validation stays up. At a large rate it often leaps for an epoch or two while the training goes on as it was."""
    return jump.back is None or bisect.bisect_left(points, (jump.back, -math.inf)) - jump.index >= _STAYS


def _jumped(curve: CurveEvidence, shape: LogShape, role: str, found: Sequence[Jump]) -> Finding:
    jump, count = max(found, key=lambda jump: jump.after - jump.before), len(found)
    before, after = _rates_around(shape.curve, jump)
    fault, cause = Fault.DATA, "something changed there: data, labels, or the weights it went on with."
    fix: Fix = Advice(
        text="Compare what happened at that step: data and their order, code, weights that were loaded, the schedule."
    )
    if before and after and after > _RAISED * before:
        fault, cause = Fault.LEARNING_RATE, f"the learning rate rises there from {before:.3g} to {after:.3g}."
        fix = lower_rate(shape, after / before, "Leave the learning rate as it was, or raise it over several epochs.")
    elif jump.after >= _FRESH * shape.start:
        cause = "it is back where it began: the training went on with fresh weights, or on other data or labels."
        fix = Advice(
            text="Load the last weights before going on, and check that data and labels are those of before.",
            snippet="model.load_weights('last.weights.h5')\nmodel.fit(x, y, initial_epoch=done)",
        )
    back = "never gets" if jump.back is None else f"at {curve.unit} {jump.back:,.0f} gets"
    name = "loss" if role == "loss" else "validation loss"
    others = f" ({count} such jumps in all)" if count > 1 else ""
    until = jump.back if jump.back is not None else (curve.steps or curve.val_steps)[-1]
    return Finding(
        fault=fault,
        severity=Severity.MEDIUM,
        confidence=0.65,
        where="loss",
        message=(
            f"The {name} jumps from {jump.before:.3g} to {jump.after:.3g} at {curve.unit} {jump.step:,.0f}{others} and {back} as "
            f"low as before: {cause}"
        ),
        evidence=(
            losses_of(curve, Mark(jump.step, "jump")),
            Number("loss after the jump over the loss before", jump.after / jump.before if jump.before else jump.after),
        ),
        fix=fix,
        marks=span(curve, role, jump.step, "jump", until),
    )


def _rates_around(curve: CurveEvidence, jump: Jump) -> tuple[float | None, float | None]:
    """Learning rate just before and at the jump."""
    steps, rates = curve.rate_at, curve.learning_rate
    at = bisect.bisect_left(steps, jump.step)
    if len(steps) != len(rates) or not 0 < at < len(rates):
        return None, None
    return rates[at - 1], max(rates[at : at + 2])


def _in_order(curve: CurveEvidence, found: Saw) -> Finding:
    tag = curve.tags.get("loss", "")
    return Finding(
        fault=Fault.DATA,
        severity=Severity.MEDIUM,
        confidence=0.6,
        where="fit",
        title="The loss rises again and again at once",
        message=(
            f"The loss of single batches rises at once by {found.height:.2g} and falls slowly, {found.count:,} times, about every "
            f"{found.period:.0f} points: batches that follow each other are alike, as when rows are sorted by class and not shuffled."
        ),
        evidence=(
            losses_of(curve, *(Mark(step, "") for step in found.steps[:10])),
            Number("points from rise to rise", found.period),
        ),
        fix=SetShuffle(shuffle=True),
        marks=tuple(Span(curve.run, tag, step, step, "rises at once") for step in found.steps) if tag else (),
    )


CHECK = Check(
    needs=frozenset({Evidence.LOGS}),
    run=_run,
    explains=frozenset(
        {"loss-oscillating", "overtraining", "overfitting", "underfitting", "loss-flat", "validation-gap"}
    ),
)
