"""The loss becomes NaN or infinite while training.

Why: from then on every gradient and every weight is NaN and nothing more is learned.
Example: NaN in the data; a rate so large that the loss overflows; log(0) in a loss of one's own.
Limits: of a log the step is named and what rose just before it; one value that is no number among thousands is a bad batch.
Where the weights of the model are known and finite, a log of NaN tells of another training or a later moment, and is HIGH only.
Fix: what happens just before says what to change: bad values in the data, a growing loss (rate, scale), or neither (an
operation that is not defined for its input).
Source: DeepLocalize (ICSE 2021), DeepDiagnosis (ICSE 2022), symptom “numerical error”.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from stethoscope.checks.check import IDLE_WEIGHTS, NOTHING_FITTED, WILD_UPDATES, Check
from stethoscope.checks.curves.jumps import first_break, rises_before
from stethoscope.checks.curves.log_pictures import losses, losses_of, lower_rate, span
from stethoscope.checks.curves.log_shape import shape_of
from stethoscope.checks.curves.remedies import base_skill
from stethoscope.checks.findings import EvidenceItem, Fault, Finding, Mark, Number, Severity
from stethoscope.checks.fixes.compile_and_fit import ClipGradients, SetLearningRate
from stethoscope.checks.fixes.fix import Advice, Fix
from stethoscope.checks.fixes.rows import DropRows
from stethoscope.data.study.profiles import DataEvidence
from stethoscope.evidence.kinds import Evidence, EvidenceSet
from stethoscope.evidence.training import RunCurve, TrainingEvidence
from stethoscope.logs.curves import CurveEvidence

_GREW = 10.0
"""A loss that has grown this much over its start before it breaks was on its way there."""


def _run(evidence: EvidenceSet) -> Iterator[Finding]:
    training = evidence.training
    if evidence.logs is not None:
        yield from _of_log(evidence, evidence.logs)
    if training is None:
        return
    layers = [layer for layer in training.layers if layer.nonfinite_step is not None]
    broken = [run for run in training.base if not _stays_finite((run,))] or list(training.base if layers else ())
    if not broken:
        return
    run = min(broken, key=lambda one: math.inf if one.nonfinite_step is None else one.nonfinite_step)
    first = min(layers, key=lambda layer: layer.nonfinite_step or 0, default=None)
    fault, before, fix = _before(training, run, evidence.data)
    place = f", first seen in {first.path}" if first else ""
    items: list[EvidenceItem] = [losses(training)]
    by_loss = run.nonfinite_step is not None or first is None
    step = run.nonfinite_step if by_loss or first is None else first.nonfinite_step
    if step is not None:
        items.append(Number("first step without a number", float(step)))
    what = "The loss stops being a number" if by_loss else "Gradients become NaN"
    at = f" at step {step:,}" if step is not None else ""
    yield Finding(
        fault=fault,
        severity=Severity.CRITICAL,
        confidence=0.9 if fault == Fault.DATA else 0.7,
        where=first.path if first else "loss",
        message=f"{what}{at}{place}. {before}",
        evidence=tuple(items),
        fix=fix,
    )


def _before(training: TrainingEvidence, run: RunCurve, data: DataEvidence | None) -> tuple[Fault, str, Fix | None]:
    if data is not None:
        arrays = {**data.inputs, **{name: target.array for name, target in data.targets.items()}}
        bad = [(name, array.nan + array.infinite) for name, array in arrays.items() if array.nan + array.infinite]
        if bad:
            name, count = bad[0]
            return Fault.DATA, f"{count:,} values of {name} are NaN or infinite.", DropRows(reason="nan")
    for trial in training.trials:
        if trial.id.startswith("rate-down") and trial.value and _stays_finite(trial.runs) and trial.runs:
            fix = SetLearningRate(trial.value, was=training.learning_rate, optimizer=training.optimizer)
            return Fault.LEARNING_RATE, f"At a rate of {trial.value:.3g} it stays a number.", fix
    for trial in training.trials:
        if trial.id.startswith("scale-") and trial.runs and _stays_finite(trial.runs):
            return Fault.PREPROCESSING, "With scaled data it stays a number.", None
    known = [value for value in run.loss if math.isfinite(value)]
    if known and max(known) > _GREW * max(abs(known[0]), 1e-12):
        clip = ClipGradients(norm=1.0, optimizer=training.optimizer, learning_rate=training.learning_rate)
        return Fault.OPTIMIZER, f"Before that it grew from {known[0]:.3g} to {max(known):.3g}.", clip
    return (
        Fault.NUMERICAL,
        "It did not grow before: an operation is not defined for its input (a logarithm or square root of 0 or less, a "
        f"division by 0). Skill until then: {base_skill(training):.2f}.",
        None,
    )


def _of_log(evidence: EvidenceSet, curve: CurveEvidence) -> Iterator[Finding]:
    found = first_break(curve)
    if found is None:
        return
    rises = rises_before(curve, found)
    shape = shape_of(curve)
    held = found.role.startswith("val_")
    what = {"loss": "The loss", "val_loss": "The validation loss"}.get(found.role, f"The {curve.metric_name}")
    word = "NaN" if math.isnan(found.value) else "infinite"
    fault = Fault.NUMERICAL
    fix: Fix = Advice(
        text="Look at the rows of this batch and at every logarithm, division and square root of the loss."
    )
    if held:
        fault, before = Fault.DATA, "The training loss stays a number: look for NaN or infinity in the validation rows."
        fix = DropRows(reason="nan")
    elif rises:
        said = ", ".join(f"{rise.name} from {rise.usual:.3g} to {rise.last:.3g}" for rise in rises[:3])
        fault, before = Fault.LEARNING_RATE, f"Just before, this grew: {said}. The updates were too large."
        advice = "Divide the learning rate by 10, and clip gradients to a norm of 1."
        fix = lower_rate(shape, 10, advice, until=found.step)
    elif found.recovers:
        before = "Later values are numbers again: single batches hold values that are none."
        fault, fix = Fault.DATA, DropRows(reason="nan")
    elif found.index == 0:
        before = (
            "It never was one: the data hold NaN or infinity, or are so large that the first updates overflow, or the rate is "
            "far too large."
        )
        fault = Fault.DATA
        fix = Advice(
            text="Look for NaN in inputs and targets, scale them to a mean of 0 and a deviation of 1, and start from the "
            "optimizer's usual learning rate."
        )
    else:
        before = (
            "Nothing grew before: an operation is not defined for its input (a logarithm or square root of 0 or less, a "
            "division by 0), or a row is NaN."
        )
    lasting = found.role == "loss" and not found.recovers
    weights = evidence.weights.tensors if evidence.weights is not None else ()
    sound = lasting and bool(weights) and not any(tensor.nonfinite for tensor in weights)
    if evidence.architecture is not None:
        what = f"In the log, run {curve.run or 'without a name'}: {what[0].lower()}{what[1:]}"
    if sound:
        before += (
            " The weights of the model itself are numbers: it was saved before that, or comes from another training."
        )
    yield Finding(
        fault=fault,
        severity=Severity.CRITICAL if lasting and not sound else Severity.HIGH,
        confidence=0.9 if lasting else 0.7,
        where="loss" if found.role in ("loss", "val_loss") else curve.metric_name,
        message=f"{what} is {word} from {curve.unit} {found.step:,.0f} on. {before}"
        if not found.recovers
        else f"{what} is {word} at {curve.unit} {found.step:,.0f}. {before}",
        evidence=(
            losses_of(curve, Mark(found.step, "no number")),
            Number(f"first {curve.unit} without a number", found.step),
            *(Number(f"{rise.name} over its usual value", rise.last / rise.usual) for rise in rises[:3]),
        ),
        fix=fix,
        marks=span(curve, found.role, found.step, word),
    )


def _stays_finite(runs: tuple[RunCurve, ...]) -> bool:
    return all(run.nonfinite_step is None and run.stopped != "non-finite" for run in runs)


CHECK = Check(
    title="The loss becomes NaN or infinite",
    needs_any=frozenset({Evidence.LOGS, Evidence.TRAINING}),
    run=_run,
    uses=frozenset({Evidence.DATA, Evidence.WEIGHTS}),
    explains=IDLE_WEIGHTS
    | WILD_UPDATES
    | NOTHING_FITTED
    | {"loss-diverging", "loss-oscillating", "per-class-error", "underfitting", "worse-than-baseline"},
    symptom=True,
)
