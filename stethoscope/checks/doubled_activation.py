"""Two activations in a row.

Why: the second acts on what the first has already bent. Relu twice changes nothing and is left over from editing;
softmax or sigmoid on top of another activation flattens the output: after relu all negative scores become equal, after a
sigmoid the classes can hardly be told apart.
Example: `Dense(10, activation="softmax")` followed by `Activation("softmax")`.
Fix: remove one of the two.
Source: NeuraLint (TOSEM 2021), rule “redundant activation”; cases 31880720 and similar on Stack Overflow.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.architecture.activations import (
    ACTIVATION_LAYERS,
    BOUNDED,
    LINEAR,
    SOFTPLUS,
    TANH,
    THRESHOLDED_RELU,
    known,
)
from stethoscope.checks.check import Check
from stethoscope.checks.curves.short_run import learns_well
from stethoscope.checks.findings import Fault, Finding, Severity, Table
from stethoscope.checks.fixes.fix import Fix
from stethoscope.checks.fixes.layers import RemoveLayer, ReplaceActivation
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.evidence.model import DROPPING, RESHAPING, activation_inside, core_of, units_of
from stethoscope.types import Layer

_LEFT_ALONE = (LINEAR.name, "", THRESHOLDED_RELU.name)
"""A threshold is put after another activation on purpose: it cuts small values off."""


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    graph = evidence.connections
    for layer in graph.layers.values():
        first = activation_inside(layer)
        if first in (LINEAR.name, "") or core_of(layer)[0] in ("LSTM", "GRU", "SimpleRNN"):
            continue
        _, after = graph.following(layer.path, (*DROPPING, *RESHAPING))
        if after is None or after.type not in ACTIVATION_LAYERS or len(after.inputs) != 1:
            continue
        second = activation_inside(after)
        if second not in _LEFT_ALONE and (first, second) != (SOFTPLUS.name, TANH.name):
            yield _finding(evidence, layer, after, first, second)


def _changes_nothing(first: str, second: str) -> bool:
    """Whether the second hands on what the first puts out, or next to it."""
    before, after = known(first), known(second)
    if before is None or after is None or after.keeps is None:
        return False
    return before is after or (after.keeps[0] <= before.range[0] and before.range[1] <= after.keeps[1])


def _finding(evidence: EvidenceSet, layer: Layer, after: Layer, first: str, second: str) -> Finding:
    harmless = _changes_nothing(first, second)
    changes = second in BOUNDED or first in BOUNDED
    severity = Severity.LOW if harmless or not changes or learns_well(evidence.training) else Severity.MEDIUM
    fix: Fix = RemoveLayer(layer=after.path, why=f"{layer.path} already applies {first}")
    if not harmless and second in BOUNDED and first != second:
        fix = ReplaceActivation(
            layer=layer.path, activation=LINEAR.name, was=first, layer_type=layer.type, units=units_of(layer)
        )
    effect = (
        "which changes nothing more"
        if harmless
        else "so its input is already bent and much of its range cannot be reached"
    )
    return Finding(
        fault=Fault.ACTIVATION,
        severity=severity,
        confidence=0.9,
        where=after.path,
        message=f"{after.path} applies {second} to {layer.path}, which already ends in {first}, {effect}. Keep one of the two.",
        evidence=(Table("Activations in a row", ("layer", "activation"), ((layer.path, first), (after.path, second))),),
        fix=fix,
    )


CHECK = Check(
    needs=frozenset({Evidence.ARCHITECTURE}),
    run=_run,
    uses=frozenset({Evidence.TRAINING}),
    explains=frozenset({"loss-flat", "loss-slow", "underfitting", "dead-relu", "vanishing-gradient", "initial-loss"}),
)
