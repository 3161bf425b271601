"""Output with leftover axes.

Why: `Dense` acts on the last axis and keeps all others. On an image or a sequence its output still has rows and columns
or time steps, while there is one label for each sample: `fit` fails, or silently compares every position with it.
Example: `Conv2D → Dense(10, activation="softmax")` without `Flatten` between, or `LSTM(32, return_sequences=True)`
before `Dense(1)` with one target for each sequence.
Fix: `Flatten()` or global pooling before the `Dense`; `return_sequences=False` on the last recurrent layer.
Source: Theia (2024), rule “missing flatten”; NeuraLint (TOSEM 2021), shape rules. Keras: Dense contracts the last axis.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.check import BADLY_TRAINED, Check
from stethoscope.checks.curves.short_run import learns_well
from stethoscope.checks.findings import Fault, Finding, Severity, Table
from stethoscope.checks.fixes.layers import AddFlatten
from stethoscope.evidence.heads import Head
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.evidence.model import DROPPING, RECURRENT, RESHAPING, core_of
from stethoscope.types import Shape

_SILENT = ("mean_squared_error", "mean_absolute_error", "huber", "log_cosh", "binary_crossentropy")
"""Losses that broadcast: a difference in shape is no error to them."""


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    for head in evidence.heads:
        layer = evidence.connections.layers.get(head.units_layer)
        shape = head.shape
        if layer is None or shape is None or core_of(layer)[0] != "Dense" or len(shape) < 3:
            continue
        extra = shape[1:-1]
        if all(size == 1 for size in extra):
            continue
        if head.target is None:
            if len(shape) >= 4 and _reads_convolution(evidence, layer.path):
                yield _finding(evidence, head, shape, None)
            continue
        target = head.target.array.shape[1:]
        if _one_per_sample(target, shape):
            yield _finding(evidence, head, shape, target)


def _one_per_sample(target: tuple[int, ...], shape: Shape) -> bool:
    """Whether a target row has no place for the output's inner axes."""
    positions = len(shape) - 2
    if target in ((), (1,)):
        return True
    # (classes,) for an output of (…, classes); a target of (steps,) is one label for each step.
    return len(target) == 1 and positions >= 1 and target[0] == shape[-1] and target[0] != shape[1]


def _reads_convolution(evidence: EvidenceSet, path: str) -> bool:
    before = evidence.connections.before(path)
    while before is not None and before.type in (
        *DROPPING,
        *RESHAPING,
        "MaxPooling2D",
        "AveragePooling2D",
        "Activation",
        "BatchNormalization",
    ):
        before = evidence.connections.before(before.path)
    return before is not None and before.type.startswith("Conv")


def _finding(evidence: EvidenceSet, head: Head, shape: Shape, target: tuple[int, ...] | None) -> Finding:
    graph = evidence.connections
    _, source = graph.preceding(head.units_layer, DROPPING)
    recurrent = source is not None and core_of(source)[0] in RECURRENT
    crashed = bool(evidence.training and evidence.training.crashed)
    fails = crashed or (target is not None and head.loss not in _SILENT and head.loss != "")
    if target is None:
        severity, confidence = Severity.MEDIUM, 0.5
    elif learns_well(evidence.training):
        severity, confidence = Severity.MEDIUM, 0.8
    else:
        severity, confidence = (Severity.CRITICAL, 0.95) if fails else (Severity.HIGH, 0.9)
    axes = " × ".join("?" if size is None else str(size) for size in shape[1:])
    rows = "one value" if target in ((), (1,), None) else f"{target[0]} values"
    advice = (
        f"Set return_sequences=False on {source.path}, or flatten before {head.units_layer}."
        if recurrent and source is not None
        else f"Put Flatten or GlobalAveragePooling before {head.units_layer}."
    )
    held = f"while each sample's target is {rows}" if target is not None else "one prediction for every position"
    return Finding(
        fault=Fault.ARCHITECTURE,
        severity=severity,
        confidence=confidence,
        where=head.units_layer,
        message=f"{head.units_layer} is applied to every position of its input, so each output is {axes}, {held}. {advice}",
        evidence=(
            Table(
                "Shapes without the batch",
                ("what", "shape"),
                (("output", str(list(shape[1:]))), ("target", "not given" if target is None else str(list(target)))),
            ),
        ),
        fix=AddFlatten(before=head.units_layer),
    )


CHECK = Check(
    needs=frozenset({Evidence.ARCHITECTURE}),
    run=_run,
    uses=frozenset({Evidence.DATA, Evidence.FIT, Evidence.TRAINING}),
    explains=BADLY_TRAINED | {"fit-small-batch", "initial-loss", "label-shape", "loss-for-task", "output-units"},
)
