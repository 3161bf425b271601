"""Bias before batch normalisation.

Why: batch normalisation subtracts each unit's mean, and a bias is part of that mean: it is learned and taken away again.
Example: `Conv2D(32, 3)` followed by `BatchNormalization()`.
Fix: `use_bias=False` on the layer before.
Limits: it costs memory and time, never accuracy.
Source: Ioffe and Szegedy, Batch Normalization (2015), section 3.2.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.architecture.activations import LINEAR
from stethoscope.checks.check import Check
from stethoscope.checks.curves.short_run import listed
from stethoscope.checks.findings import Fault, Finding, Number, Severity
from stethoscope.checks.fixes.layer_settings import RemoveBias
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.evidence.model import MATRICES, activation_inside, units_of


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    graph = evidence.connections
    found = []
    for layer in graph.layers.values():
        after = graph.after(layer.path)
        if (
            (layer.type in MATRICES or layer.type.startswith("DepthwiseConv"))
            and layer.config.get("use_bias", True) is True
            and activation_inside(layer) == LINEAR.name
            and after is not None
            and after.type == "BatchNormalization"
            and after.config.get("center", True) is True
        ):
            found.append(layer)
    if found:
        wasted = sum(units_of(layer) or 0 for layer in found)
        yield Finding(
            fault=Fault.ARCHITECTURE,
            severity=Severity.LOW,
            confidence=0.95,
            where=found[0].path,
            message=(
                f"{listed([layer.path for layer in found])} {'have' if len(found) > 1 else 'has'} a bias that the batch "
                f"normalisation behind takes away again: {wasted:,} parameters without effect."
            ),
            evidence=(Number("parameters without effect", wasted, threshold=0),),
            fix=RemoveBias(layers=tuple(layer.path for layer in found)),
        )


CHECK = Check(needs=frozenset({Evidence.ARCHITECTURE}), run=_run)
