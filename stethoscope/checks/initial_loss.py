"""First loss far from what guessing gives.

Why: before any training a classifier should be unsure: its loss is then ln(classes), 2.30 for ten, 0.69 for yes or no. A
much higher first loss means that it starts out very sure and wrong: unscaled inputs, large initial weights, or an output
and a loss that do not fit. Much lower: the labels are not what they seem.
Example: ten classes, pixels from 0 to 255: first loss 40 instead of 2.3.
Fix: scale the inputs; keep Keras' initialisers; see what else was found, for this is a symptom.
Source: Karpathy, “A Recipe for Training Neural Networks” (2019), verify loss at init; thresholds: ours (three times, a third).
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.architecture.losses import PROBABILITY_LOSSES
from stethoscope.checks.check import Check
from stethoscope.checks.curves.short_run import learns_well
from stethoscope.checks.findings import Bars, Fault, Finding, Mark, Number, Severity
from stethoscope.checks.fixes.values import ScaleInputs
from stethoscope.evidence.kinds import Evidence, EvidenceSet

TOO_HIGH, TOO_LOW, FAR = 3.0, 1 / 3, 10.0
LARGE_INPUT = 10.0
"""Input values beyond this explain large first outputs."""


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    training = evidence.training
    if training is None or training.started_from == "the file's weights" or len(evidence.heads) != 1:
        return
    head = evidence.heads[0]
    first, expected = training.initial_loss, training.expected_initial_loss
    if first is None or not expected or expected <= 0 or head.loss not in PROBABILITY_LOSSES:
        return
    ratio = first / expected
    if TOO_LOW <= ratio <= TOO_HIGH:
        return
    inputs = evidence.data.inputs.values() if evidence.data else ()
    largest = max((max(abs(p.minimum or 0.0), abs(p.maximum or 0.0)) for p in inputs), default=0.0)
    scaled = largest <= LARGE_INPUT
    reason = (
        "the untrained network is already very sure, through its initial weights or a layer that multiplies"
        if scaled
        else f"inputs reach {largest:g}, so the first outputs are extreme"
    )
    if ratio < 1:
        reason = "the labels or the loss are not what they seem"
    severe = ratio >= FAR and not learns_well(training)
    yield Finding(
        fault=Fault.INITIALISATION if scaled else Fault.PREPROCESSING,
        severity=Severity.MEDIUM if severe else Severity.LOW,
        confidence=0.5,
        where="loss",
        message=f"The loss starts at {first:.3g}, while guessing gives {expected:.3g}: {reason}.",
        evidence=(
            Bars("First loss", head.loss, ("first loss", "guessing"), (first, expected), (Mark(expected, "guessing"),)),
            Number("first loss over guessing", ratio, "×", TOO_HIGH),
        ),
        fix=None if ratio < 1 or scaled else ScaleInputs(method="standardise"),
    )


CHECK = Check(
    needs=frozenset({Evidence.TRAINING}),
    run=_run,
    uses=frozenset({Evidence.ARCHITECTURE, Evidence.DATA, Evidence.FIT}),
    symptom=True,
)
