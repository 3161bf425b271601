"""Predictions depend on the rest of the batch.

Why: what a model says about one row must not depend on which other rows it is asked about at the same time. If it does,
results change with the batch size and the order of the rows, and cannot be reproduced.
Example: `BatchNormalization` called with `training=True`; a softmax or a mean over axis 0, the batch.
Fix: call the layer without `training=True`; normalise over the features (`axis=-1`).
Source: Karpathy, A Recipe for Training Neural Networks (2019), “use backprop to chart dependencies”. Tolerances: the
consistency tests'.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.check import Check
from stethoscope.checks.findings import Fault, Finding, Number, Severity, Table
from stethoscope.checks.fixes.fix import Advice
from stethoscope.evidence.kinds import Evidence, EvidenceSet

_TESTS = ("batch-independence", "batch-order", "batch-1-vs-n", "batch-sizes")


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    tests = [test for test in (evidence.behaviour.tests if evidence.behaviour else ()) if test.id in _TESTS]
    failed = [test for test in tests if test.passed is False]
    if not failed:
        return
    first = next((test for name in _TESTS for test in failed if test.id == name), failed[0])
    where = next((test.layer for test in failed if test.layer), "")
    layer = evidence.connections.layers.get(where)
    normalises = layer is not None and "Normalization" in layer.type
    reason = next((test.reason for test in failed if test.reason), "")
    gap = max((test.max_abs_diff or 0.0) for test in failed)
    yield Finding(
        fault=Fault.ARCHITECTURE,
        severity=Severity.HIGH,
        confidence=0.95,
        where=where or "model",
        message=f"{first.detail} {reason}".strip(),
        evidence=(
            Number("largest change of a prediction", gap, threshold=0.0),
            Table("Tests of the batch", ("test", "what was seen"), tuple((test.name, test.detail) for test in tests)),
        ),
        fix=Advice(
            text=(
                f"Call {where} without training=True, so that it uses its remembered statistics"
                if normalises
                else f"Make {where or 'the model'} work on each row alone: no mean, maximum or softmax over axis 0"
            ),
            snippet="x = norm(x)  # not norm(x, training=True)"
            if normalises
            else "y = keras.ops.softmax(x, axis=-1)  # not axis=0",
        ),
    )


CHECK = Check(needs=frozenset({Evidence.BEHAVIOUR}), run=_run, uses=frozenset({Evidence.ARCHITECTURE}))
