"""A layer that puts out NaN.

Why: a division by zero, a logarithm of zero or an overflow inside the network makes every later value NaN. The first
layer that shows one is where it begins.
Example: a `Lambda` with `tf.math.log(x)` on inputs that can be 0; float16 sums beyond 65,504.
Fix: keep arguments away from the edge: `log(x + 1e-7)`, `x / (y + 1e-7)`.
Limits: random input may hold values that real data never has; then it is worth a look, no more.
Source: DeepLocalize (ICSE 2021); TensorFlow, tf.debugging.check_numerics.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.check import NOTHING_FITTED, Check
from stethoscope.checks.findings import Fault, Finding, Number, Severity, Table
from stethoscope.checks.fixes.fix import Advice
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.evidence.model import MATRICES, RECURRENT, LayerActivation

_PLAIN = (
    *MATRICES,
    *RECURRENT,
    "BatchNormalization",
    "LayerNormalization",
    "Activation",
    "Embedding",
    "ReLU",
    "Softmax",
)


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    seen = evidence.activations
    if seen is None or _input_is_bad(evidence):
        return
    first = next((layer for layer in seen.layers if layer.nonfinite), None)
    outputs = [output for output in seen.outputs if output.nonfinite]
    if first is None and not outputs:
        return
    where = first.path if first is not None else outputs[0].name
    kind = first.type if first is not None else ""
    real = seen.source == "data"
    severity = Severity.CRITICAL if real and outputs else Severity.HIGH if real or kind in _PLAIN else Severity.MEDIUM
    reach = "and the predictions with it" if outputs else "though the predictions stay finite"
    yield Finding(
        fault=Fault.NUMERICAL,
        severity=severity,
        confidence=0.95 if real else 0.6,
        where=where,
        message=(
            f"{where}{f' ({kind})' if kind else ''} is the first layer that puts out NaN or infinity on "
            f"{'your data' if real else 'random input'}, {reach}. Keep its input away from where it is not defined."
        ),
        evidence=tuple(_numbers(evidence, first)),
        fix=Advice(
            text=f"Guard the operation in {where} with a small constant, or clip its input",
            snippet="y = keras.ops.log(keras.ops.maximum(x, 1e-7))\nratio = a / (b + 1e-7)",
        ),
    )


def _input_is_bad(evidence: EvidenceSet) -> bool:
    """NaN that comes in comes out: that is a finding about the data."""
    inputs = evidence.data.inputs.values() if evidence.data else ()
    return any(profile.nan or profile.infinite for profile in inputs)


def _numbers(evidence: EvidenceSet, first: LayerActivation | None) -> Iterator[Number | Table]:
    if first is None or evidence.activations is None:
        return
    yield Number("values that are not finite", first.nonfinite, threshold=0)
    layers = evidence.activations.layers
    place = layers.index(first)
    near = layers[max(0, place - 4) : place + 2]
    rows = tuple((layer.path, layer.minimum, layer.maximum, layer.nonfinite) for layer in near)
    yield Table("Outputs up to there", ("layer", "minimum", "maximum", "not finite"), rows)


CHECK = Check(
    needs=frozenset({Evidence.ACTIVATIONS}),
    run=_run,
    uses=frozenset({Evidence.DATA}),
    explains=NOTHING_FITTED
    | {
        "batch-dependence",
        "loss-diverging",
        "nonfinite-training",
        "null-input",
        "train-eval-difference",
        "unsteady-output",
        "worse-than-baseline",
    },
)
