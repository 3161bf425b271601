"""Softmax inside the network.

Why: softmax makes the units of a layer compete for a total of 1. Between hidden layers almost all of them end near 0,
little passes on in either direction, and learning is slow or stops.
Example: `Dense(64, activation="softmax")` before `Dense(10, activation="softmax")`.
Fix: `activation="relu"` on the hidden layer.
Limits: attention weights and mixtures (softmax read by a product) are meant to be so.
Source: NeuraLint (TOSEM 2021), rule on hidden activations; Goodfellow et al., Deep Learning (2016), section 6.2.2.3.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.architecture.activations import ACTIVATION_LAYERS, RELU, SOFTMAX
from stethoscope.checks.check import BADLY_TRAINED, Check
from stethoscope.checks.curves.short_run import listed, weighed
from stethoscope.checks.findings import Fault, Finding, Table
from stethoscope.checks.fixes.combined import Combined
from stethoscope.checks.fixes.layers import ReplaceActivation
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.evidence.model import (
    AVERAGING,
    DROPPING,
    MATRICES,
    MAXIMUM,
    RECURRENT,
    RESHAPING,
    activation_inside,
    core_of,
    units_of,
)
from stethoscope.types import Layer

_PASSING = (*DROPPING, *RESHAPING, *AVERAGING, *MAXIMUM, "BatchNormalization")


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    graph = evidence.connections
    found: list[tuple[Layer, Layer]] = []
    for layer in graph.layers.values():
        if activation_inside(layer) != SOFTMAX.name or core_of(layer)[0] not in (*MATRICES, *ACTIVATION_LAYERS):
            continue
        _, after = graph.following(layer.path, _PASSING)
        if after is not None and len(after.inputs) == 1 and core_of(after)[0] in (*MATRICES, *RECURRENT):
            found.append((layer, after))
    if not found:
        return
    fixes = tuple(
        ReplaceActivation(
            layer=layer.path, activation=RELU.name, was=SOFTMAX.name, layer_type=layer.type, units=units_of(layer)
        )
        for layer, _ in found
    )
    names = listed([layer.path for layer, _ in found])
    yield Finding(
        fault=Fault.ACTIVATION,
        severity=weighed(evidence.training, "relu-hidden"),
        confidence=0.8,
        where=found[0][0].path,
        message=(
            f"{names} {'use' if len(found) > 1 else 'uses'} softmax inside the network: its units share a total of 1, so "
            f"hardly anything reaches {found[0][1].path}. Softmax belongs on the output; use relu here."
        ),
        evidence=(
            Table(
                "Softmax before other layers",
                ("layer", "units", "read by"),
                tuple((layer.path, units_of(layer), after.path) for layer, after in found),
            ),
        ),
        fix=fixes[0] if len(fixes) == 1 else Combined(fixes=fixes),
    )


CHECK = Check(
    needs=frozenset({Evidence.ARCHITECTURE}),
    run=_run,
    uses=frozenset({Evidence.TRAINING}),
    explains=BADLY_TRAINED | {"fit-small-batch", "vanishing-gradient"},
)
