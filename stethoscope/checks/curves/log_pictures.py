"""Findings of a log as evidence: its curves thinned without losing a spike, the steps to mark, and a rate to try next.

Curves of a diagnosis as evidence: what a person would look at to see it.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from stethoscope.checks.curves.log_shape import LogShape
from stethoscope.checks.curves.remedies import Remedy
from stethoscope.checks.findings import Bars, Curves, Line, Mark, Number, Span, Table
from stethoscope.checks.fixes.compile_and_fit import SetLearningRate
from stethoscope.checks.fixes.fix import Advice, Fix
from stethoscope.evidence.training import LayerTraining, RunCurve, TrainingEvidence
from stethoscope.logs.curves import CurveEvidence

_COLUMNS = 200
"""Stretches of a long curve of which the lowest and the highest point are shown."""
_ROSE = 3.0
"""A largest rate over the usual one from which the rate has risen rather than wandered."""


def losses_of(curve: CurveEvidence, *marks: Mark) -> Curves:
    """Training and validation loss of a run."""
    lines = [_line("training loss", curve.steps, curve.loss, curve.run)]
    if curve.val_loss:
        lines.append(_line("validation loss", curve.val_steps, curve.val_loss, curve.run))
    return Curves(f"Loss of {curve.run or 'the run'}", curve.unit, "loss", tuple(lines), marks, _spans_decades(lines))


def scores_of(curve: CurveEvidence, *marks: Mark) -> Curves:
    """Training and validation metric of a run."""
    lines = [_line(f"training {curve.metric_name}", curve.metric_at, curve.metric, curve.run)]
    if curve.val_metric:
        lines.append(_line(f"validation {curve.metric_name}", curve.val_metric_at, curve.val_metric, curve.run))
    name = curve.metric_name
    return Curves(f"{name[:1].upper()}{name[1:]} of {curve.run or 'the run'}", curve.unit, name, tuple(lines), marks)


def span(curve: CurveEvidence, role: str, at: float, label: str, until: float | None = None) -> tuple[Span, ...]:
    """The steps to mark in the plot of the tag that plays `role`; nothing where it was not logged."""
    tag = curve.tags.get(role, "")
    scale = curve.val_scale if role.startswith("val_") else 1.0
    return (Span(curve.run, tag, at / scale, (at if until is None else until) / scale, label),) if tag else ()


def lower_rate(shape: LogShape, factor: float, otherwise: str, until: float = math.inf) -> Fix:
    """A learning rate `factor` times smaller than the largest that was logged up to step `until`; advice where none was.

    Where the rate had risen to that late, at most the rate it was mostly trained with.
    """
    logged = zip(shape.curve.rate_at, shape.curve.learning_rate, strict=False)
    rates = [rate for step, rate in logged if step <= until and math.isfinite(rate)] or shape.rates
    known = [rate for rate in rates if rate > 0]
    if not known:
        return Advice(text=otherwise)
    largest, usual = max(known), statistics.median_high(known)
    rose_late = 2 * known.index(largest) >= len(known) and largest >= _ROSE * usual
    return SetLearningRate(_round(min(largest / factor, usual) if rose_late else largest / factor), was=largest)


def higher_rate(shape: LogShape, factor: float, otherwise: str) -> Fix:
    """A learning rate `factor` times larger than the one that was logged; advice where none was."""
    rate = shape.rate
    return SetLearningRate(_round(rate * factor), was=rate) if rate is not None and rate > 0 else Advice(text=otherwise)


def _round(rate: float) -> float:
    """Two digits are all that can be meant."""
    return float(f"{rate:.2g}")


def _line(name: str, steps: Sequence[float], values: Sequence[float], run: str) -> Line:
    places = _kept(values[: len(steps)])
    return Line(name, tuple(steps[at] for at in places), tuple(values[at] for at in places), run)


def _kept(values: Sequence[float]) -> Sequence[int]:
    """Places of the lowest, the highest and the first non-finite point of each stretch; all of a short curve."""
    if len(values) <= 2 * _COLUMNS:
        return range(len(values))
    size = len(values) / _COLUMNS
    kept: set[int] = {0, len(values) - 1}
    for column in range(_COLUMNS):
        places = range(int(column * size), max(int(column * size) + 1, int((column + 1) * size)))
        finite = [at for at in places if math.isfinite(values[at])]
        if finite:
            kept |= {min(finite, key=values.__getitem__), max(finite, key=values.__getitem__)}
        if len(finite) < len(places):
            kept.add(next(at for at in places if not math.isfinite(values[at])))
    return sorted(kept)


def _spans_decades(lines: Sequence[Line]) -> bool:
    known = [value for line in lines for value in line.y if math.isfinite(value)]
    return bool(known) and min(known) > 0 and max(known) > 50 * min(known)


def losses(training: TrainingEvidence, *remedies: Remedy) -> Curves:
    """The loss of the base runs beside that of trials, over steps."""
    lines = [_run_line("as it is", run) for run in training.base]
    for remedy in remedies:
        lines += [_run_line(remedy.trial.title, run) for run in remedy.trial.runs]
    return Curves("Loss while training", "step", "loss", tuple(lines), log_y=_needs_log_axis(lines))


def curve(found: CurveEvidence, *marks: Mark) -> Curves:
    """One run's loss and validation loss."""
    lines = [Line("training loss", found.steps, found.loss, found.run)]
    if found.val_loss:
        lines.append(Line("validation loss", found.val_steps, found.val_loss, found.run))
    return Curves(
        f"Loss of {found.run or 'the run'}", found.unit, "loss", tuple(lines), tuple(marks), _needs_log_axis(lines)
    )


def gains(training: TrainingEvidence, found: Sequence[Remedy]) -> Table:
    """What each change that was tried came to."""
    rows = tuple(
        (remedy.trial.title, round(remedy.before, 3), round(remedy.after, 3), round(remedy.gain, 3)) for remedy in found
    )
    return Table(
        f"One change at a time (skill: 0 is chance, 1 is perfect; {len(training.base)} seeds)",
        ("change", "skill before", "skill after", "gain"),
        rows,
    )


def gain_numbers(remedy: Remedy, least: float) -> tuple[Number, ...]:
    """Skill without and with one change."""
    where = "validation rows" if remedy.validated else "training rows"
    return (
        Number(f"skill as it is ({where})", remedy.before),
        Number(f"skill with “{remedy.trial.title}”", remedy.after, threshold=remedy.before + least),
    )


def by_layer(
    title: str, value_label: str, layers: Sequence[LayerTraining], values: Sequence[float], *marks: Mark
) -> Bars:
    """One bar per layer, on a logarithmic axis."""
    return Bars(title, value_label, tuple(layer.path for layer in layers), tuple(values), tuple(marks), log=True)


def _run_line(name: str, run: RunCurve) -> Line:
    return Line(name, tuple(float(step) for step in run.steps), run.loss, group=f"seed {run.seed}")


def _needs_log_axis(lines: Sequence[Line]) -> bool:
    known = [value for line in lines for value in line.y if 0 < value < float("inf")]
    negative = any(value <= 0 for line in lines for value in line.y)
    return bool(known) and not negative and max(known) > 50 * min(known)
