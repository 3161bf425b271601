"""Saturated units.

Why: sigmoid and tanh are flat at their ends. A unit that is there for every row passes next to no gradient: the layers
before it stop learning.
Example: inputs in the thousands into `Dense(50, activation="sigmoid")`; weights of standard deviation 1 on many inputs.
Fix: scale the inputs, `glorot_uniform` weights, relu.
Limits: a symptom. Gates that multiply another signal, and outputs, are meant to be near 0 and 1.
Source: Glorot and Bengio (AISTATS 2010), section 3.1; SageMaker Debugger, “TanhSaturation”, “SigmoidSaturation”.
Threshold: |x| of 5 or more in over half of the values.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.check import IDLE_WEIGHTS, NOTHING_FITTED, Check
from stethoscope.checks.curves.short_run import learns_nothing, learns_well, listed
from stethoscope.checks.findings import Bars, Fault, Finding, Mark, Severity
from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.layer_settings import SetInitialiser
from stethoscope.checks.fixes.values import ScaleInputs
from stethoscope.evidence.kinds import Evidence, EvidenceSet

HALF = 0.5
_LARGE_INPUT = 10.0
_GATED = ("Multiply", "Dot", "Attention", "Lambda")


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    inner = _inner(evidence)
    after = {
        layer.path: layer.saturated_fraction[-1]
        for layer in (evidence.training.layers if evidence.training else ())
        if layer.path in inner and layer.saturated_fraction and layer.saturated_fraction[-1] >= HALF
    }
    given = {
        layer.path: share
        for layer in (evidence.activations.layers if evidence.activations else ())
        if layer.path in inner and (share := layer.saturated_fraction) is not None and share >= HALF
    }
    if evidence.training is not None and evidence.training.base:
        if not after:
            return
        if learns_well(evidence.training):
            severity = Severity.LOW
        else:
            severity = (
                Severity.HIGH if learns_nothing(evidence.training) and max(after.values()) >= 0.9 else Severity.MEDIUM
            )
        yield _finding(evidence, after, severity, 0.7, "after the short training run")
    elif given and evidence.activations is not None:
        real = evidence.activations.source == "data"
        where = "on your data" if real else "on random input"
        yield _finding(evidence, given, Severity.MEDIUM if real else Severity.LOW, 0.6 if real else 0.4, where)


def _inner(evidence: EvidenceSet) -> set[str]:
    """Layers whose saturation is no purpose: neither outputs nor gates."""
    graph = evidence.connections
    ends = {head.layer for head in evidence.heads} | {head.units_layer for head in evidence.heads}
    return {
        path
        for path in graph.layers
        if path not in ends
        and not graph.leads_to_output(path)
        and not any(graph.layers[reader].type.startswith(_GATED) for reader in graph.readers.get(path, ()))
        and graph.readers.get(path)
    }


def _finding(
    evidence: EvidenceSet, found: dict[str, float], severity: Severity, confidence: float, where: str
) -> Finding:
    worst = max(found, key=lambda path: found[path])
    large = [
        (name, profile)
        for name, profile in (evidence.data.inputs if evidence.data else {}).items()
        if max(abs(profile.minimum or 0.0), abs(profile.maximum or 0.0)) > _LARGE_INPUT
    ]
    fix: Fix = SetInitialiser(layers=tuple(found), kernel="glorot_uniform")
    because = ""
    if large:
        name, profile = large[0]
        fix = ScaleInputs(input=name, method="standardise", was_minimum=profile.minimum, was_maximum=profile.maximum)
        because = f" Its inputs reach {max(abs(profile.minimum or 0.0), abs(profile.maximum or 0.0)):,.4g}."
    others = [path for path in found if path != worst]
    return Finding(
        fault=Fault.PREPROCESSING if large else Fault.INITIALISATION,
        severity=severity,
        confidence=confidence,
        where=worst,
        message=(
            f"{found[worst]:.0%} of the values of {worst} are at the flat ends of its activation {where}"
            f"{f' (also in {listed(others)})' if others else ''}, where hardly any gradient passes.{because}"
        ),
        evidence=(
            Bars(
                "Saturated values",
                "share of values",
                tuple(found),
                tuple(found.values()),
                (Mark(HALF, "half of them"),),
            ),
        ),
        fix=fix,
    )


CHECK = Check(
    needs=frozenset({Evidence.ARCHITECTURE, Evidence.ACTIVATIONS}),
    run=_run,
    uses=frozenset({Evidence.DATA, Evidence.TRAINING}),
    explains=IDLE_WEIGHTS | NOTHING_FITTED | {"loss-slow"},
    symptom=True,
)
