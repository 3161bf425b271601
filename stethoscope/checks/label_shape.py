"""Shape of targets and output.

Why: a loss compares target and output number by number. Where shapes differ, cross-entropies stop; squared and absolute
errors stretch the smaller one silently (broadcasting), so every number is compared with every other and the network
learns the mean.
Example: targets (rows,) for an output (rows, 6, 1): each of the six steps is compared with the targets of all rows.
Fix: reshape the targets, or the output: Flatten, pooling, return_sequences=False.
Source: keras.losses (squeeze_or_expand_to_same_rank); numpy.org/doc/stable/user/basics.broadcasting; measured on Keras 3.15.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from stethoscope.architecture.losses import REGRESSION_LOSSES
from stethoscope.checks.check import BADLY_TRAINED, Check
from stethoscope.checks.findings import Fault, Finding, Severity, Table
from stethoscope.checks.fixes.fix import Advice, Fix
from stethoscope.checks.fixes.values import ReshapeTargets
from stethoscope.checks.judging.contract import as_shape, fits, one_per_row, wanted_shapes
from stethoscope.checks.judging.loss_clash import loss_clash
from stethoscope.evidence.heads import Head
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.evidence.model import core_of


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    data = evidence.data
    rows = {name: profile.rows for name, profile in data.inputs.items()} if data else {}
    for head in evidence.heads:
        target = head.target
        if target is None or target.kind == "empty":
            continue
        different = {name: count for name, count in rows.items() if count != target.array.rows}
        if different:
            yield _row_count(head, different, target.array.rows)
            continue
        wanted = wanted_shapes(head)
        shape = target.array.shape[1:]
        if not wanted or not head.loss or _taken(shape, wanted) or _owned(head, evidence):
            continue
        yield _mismatch(head, shape, wanted[-1] if len(wanted[-1]) == len(shape) else wanted[0])


def _owned(head: Head, evidence: EvidenceSet) -> bool:
    """Whether the shapes differ for a reason that another check names: encoding, units, loss, a missing Flatten."""
    target, out = head.target, head.row_shape
    if target is None or out is None or target.kind == "text" or loss_clash(head, evidence) is not None:
        return True
    shape = target.array.shape[1:]
    if len(out) == 1 and (one_per_row(target) or len(shape) == 1):
        return True  # output-units, label-encoding
    if len(shape) == len(out) and shape[:-1] == out[:-1] and shape[-1] != 1:
        return True  # output-units; one-hot rows with a sparse loss: label-encoding
    layer = evidence.connections.layers.get(head.units_layer)
    dense = layer is not None and core_of(layer)[0] == "Dense"
    per_row = one_per_row(target) or (len(shape) == 1 and shape[0] == out[-1] and shape[0] != out[0])
    return dense and len(out) > 1 and per_row and any(size != 1 for size in out[:-1])  # missing-flatten


def _taken(shape: tuple[int, ...], wanted: tuple[tuple[int | None, ...], ...]) -> bool:
    """Whether the loss takes the shape as it is, or after it has dropped a last axis of 1 as Keras does."""
    shapes = [shape, shape[:-1]] if shape and shape[-1] == 1 else [shape]
    return any(fits(one, other) for one in shapes for other in wanted)


def _mismatch(head: Head, shape: tuple[int, ...], wanted: tuple[int | None, ...]) -> Finding:
    assert head.shape is not None and head.target is not None
    stretches = head.loss in REGRESSION_LOSSES and _broadcasts(shape, head.shape[1:])
    positions = len(head.shape) > 2 and len(shape) < len(head.shape) - 1
    have, output = as_shape((None, *shape)), as_shape(head.shape)
    effect = (
        f"{head.loss} stretches one over the other, so numbers that do not belong together are compared"
        if stretches
        else "fit stops"
    )
    advice = f"For this output they should be {as_shape((None, *wanted))}."
    sizes = [size for size in wanted if size is not None]
    fix: Fix = Advice(f"Give the targets of {head.output} the shape {as_shape((None, *wanted))}.")
    if positions:
        advice = f"{head.layer} answers at every position, and there is one target a row: flatten or pool before it, or set return_sequences=False on the last recurrent layer."
        fix = Advice(advice, "x = layers.LSTM(32, return_sequences=False)(x)  # or layers.GlobalAveragePooling1D()(x)")
    elif len(sizes) == len(wanted) and math.prod(sizes) == math.prod(shape):
        fix = ReshapeTargets(head.output, tuple(sizes))
    return Finding(
        fault=Fault.ARCHITECTURE if positions else Fault.LABELS,
        severity=Severity.HIGH if stretches else Severity.CRITICAL,
        confidence=0.9,
        where=f"target:{head.output}",
        message=f"The targets have the shape {have}, but {head.layer or head.output} puts out {output}: {effect}. {advice}",
        evidence=(Table("Shapes", ("what", "shape"), (("targets", have), ("output", output), ("loss", head.loss))),),
        fix=fix,
    )


def _broadcasts(shape: tuple[int, ...], output: tuple[int | None, ...]) -> bool:
    """Whether numpy's rule stretches one over the other; a missing or unknown size may."""
    if not shape and len(output) == 1:
        return output[0] == 1
    pairs = zip(reversed(shape), reversed(output), strict=False)
    return all(one in (other, 1) or other in (1, None) for one, other in pairs)


def _row_count(head: Head, different: dict[str, int], rows: int) -> Finding:
    name, count = next(iter(different.items()))
    return Finding(
        fault=Fault.DATA,
        severity=Severity.CRITICAL,
        confidence=0.95,
        where=f"target:{head.output}",
        message=f"The input {name} has {count:,} rows, the targets of {head.output} have {rows:,}: fit stops. Every row needs its target.",
        evidence=(Table("Rows", ("array", "rows"), ((name, count), (head.output, rows))),),
        fix=Advice(
            "Cut or load inputs and targets together, so that row i of one belongs to row i of the other.",
            "assert len(x) == len(y)",
        ),
    )


CHECK = Check(
    needs=frozenset({Evidence.ARCHITECTURE, Evidence.DATA}),
    run=_run,
    uses=frozenset({Evidence.FIT}),
    explains=BADLY_TRAINED | {"fit-small-batch", "initial-loss"},
)
