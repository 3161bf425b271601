"""The input has no effect.

Why: a model whose output does not move when its input is exchanged has not learned anything from it. Setting the input
to zero is the classic test: a model that does as well without its input does not use it.
Example: an input that is never connected to the output; a network whose hidden units are all dead.
Fix: the cause: connect the input, wake the dead layers.
Limits: in a deep network that was never trained the signal may fade below this on its own. Masks and other side inputs may have no effect on random input, and rightly so.
Source: Karpathy, A Recipe for Training Neural Networks (2019), “input-independent baseline”. Tolerance: 1e-6 of the
largest output.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stethoscope.checks.check import Check
from stethoscope.checks.curves.short_run import learns_nothing, listed, what_blocks, where_blocked
from stethoscope.checks.findings import Bars, Fault, Finding, Number, Severity
from stethoscope.evidence.kinds import Evidence, EvidenceSet

_IDLE = 1e-6
_SIDE = ("mask", "segment", "token_type", "position", "length", "training")


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    behaviour = evidence.behaviour
    if behaviour is None:
        return
    whole = behaviour.test("input-dependence")
    if whole is not None and whole.passed is False:
        trained = evidence.weights is not None and evidence.weights.trained is True
        yield Finding(
            fault=Fault.ARCHITECTURE,
            severity=Severity.HIGH
            if trained
            else Severity.MEDIUM
            if learns_nothing(evidence.training)
            else Severity.LOW,
            confidence=0.8 if trained else 0.5,
            where=where_blocked(
                evidence.overfit, evidence.heads[0].layer if evidence.heads and evidence.heads[0].layer else "model"
            ),
            message=f"{whole.detail} {what_blocks(evidence.overfit)}",
            evidence=(Number("largest change of the output", whole.max_abs_diff or 0.0, threshold=_IDLE),),
        )
    each = behaviour.test("every-input-matters")
    idle = _idle(each.values) if each is not None else []
    if each is not None and idle:
        yield Finding(
            fault=Fault.ARCHITECTURE,
            severity=Severity.LOW,
            confidence=0.5,
            where=f"input:{idle[0]}",
            message=f"Exchanging {listed(idle)} alone does not change the output: it may not be connected, or not be used.",
            evidence=(
                Bars("Change of the output", "of its largest value", tuple(each.values), tuple(_numbers(each.values))),
            ),
        )


def _idle(moved: Mapping[str, object]) -> list[str]:
    return [
        name
        for name, change in moved.items()
        if isinstance(change, int | float) and change <= _IDLE and not any(word in name.lower() for word in _SIDE)
    ]


def _numbers(moved: Mapping[str, object]) -> list[float]:
    return [float(value) if isinstance(value, int | float) else 0.0 for value in moved.values()]


CHECK = Check(
    needs=frozenset({Evidence.BEHAVIOUR}),
    run=_run,
    uses=frozenset({Evidence.ARCHITECTURE, Evidence.WEIGHTS, Evidence.TRAINING, Evidence.OVERFIT}),
    explains=frozenset({"constant-output"}),
    symptom=True,
)
