"""Weights that are not numbers.

Why: one NaN in a weight makes everything behind it NaN, and no training brings it back. It is what a diverged training
leaves behind.
Example: a model saved after its loss had turned to nan.
Fix: go back to a checkpoint from before, and train on with a smaller learning rate or clipped gradients.
Source: SageMaker Debugger, rule “ExplodingTensor”; DeepLocalize (ICSE 2021), “numerical error”.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.check import NOTHING_FITTED, Check
from stethoscope.checks.curves.short_run import listed
from stethoscope.checks.findings import Fault, Finding, Severity, Table
from stethoscope.checks.fixes.fix import Advice
from stethoscope.evidence.kinds import Evidence, EvidenceSet

_SNIPPET = """model.load_weights("last_good.weights.h5")  # a checkpoint from before the loss was nan
model.compile(optimizer=keras.optimizers.Adam(1e-4, clipnorm=1.0), loss=model.loss)
model.fit(x, y, callbacks=[keras.callbacks.TerminateOnNaN()])"""


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    bad = [tensor for tensor in (evidence.weights.tensors if evidence.weights else ()) if tensor.nonfinite]
    if not bad:
        return
    layers = list(dict.fromkeys(tensor.layer for tensor in bad))
    total = sum(tensor.nonfinite for tensor in bad)
    yield Finding(
        fault=Fault.NUMERICAL,
        severity=Severity.CRITICAL,
        confidence=1.0,
        where=layers[0],
        message=(
            f"{total:,} weights in {listed(layers)} are NaN or infinite, so what depends on them is too. They cannot be "
            "repaired: go back to a checkpoint from before."
        ),
        evidence=(
            Table(
                "Weights with NaN or infinity",
                ("layer", "weight", "shape", "not finite"),
                tuple((t.layer, t.name, " × ".join(map(str, t.shape)), t.nonfinite) for t in bad[:20]),
            ),
        ),
        fix=Advice(
            text="Load a checkpoint from before the loss was nan and train on with clipped gradients", snippet=_SNIPPET
        ),
    )


CHECK = Check(
    needs=frozenset({Evidence.WEIGHTS}),
    run=_run,
    explains=NOTHING_FITTED
    | {
        "batch-dependence",
        "dead-relu",
        "loss-diverging",
        "nonfinite-activations",
        "nonfinite-training",
        "null-input",
        "saturation",
        "train-eval-difference",
        "unsteady-output",
        "worse-than-baseline",
    },
)
