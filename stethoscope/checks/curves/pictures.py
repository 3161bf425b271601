"""Curves of a diagnosis as evidence: what a person would look at to see it."""

from __future__ import annotations

from collections.abc import Sequence

from stethoscope.checks.curves.remedies import Remedy
from stethoscope.checks.findings import Bars, Curves, Line, Mark, Number, Table
from stethoscope.evidence.training import LayerTraining, RunCurve, TrainingEvidence
from stethoscope.logs.evidence.curves import CurveEvidence


def losses(training: TrainingEvidence, *remedies: Remedy) -> Curves:
    """The loss of the base runs beside that of trials, over steps."""
    lines = [_line("as it is", run) for run in training.base]
    for remedy in remedies:
        lines += [_line(remedy.trial.title, run) for run in remedy.trial.runs]
    return Curves("Loss while training", "step", "loss", tuple(lines), log_y=_spans_decades(lines))


def curve(found: CurveEvidence, *marks: Mark) -> Curves:
    """One run's loss and validation loss."""
    lines = [Line("training loss", found.steps, found.loss, found.run)]
    if found.val_loss:
        lines.append(Line("validation loss", found.val_steps, found.val_loss, found.run))
    return Curves(
        f"Loss of {found.run or 'the run'}", found.unit, "loss", tuple(lines), tuple(marks), _spans_decades(lines)
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


def _line(name: str, run: RunCurve) -> Line:
    return Line(name, tuple(float(step) for step in run.steps), run.loss, group=f"seed {run.seed}")


def _spans_decades(lines: Sequence[Line]) -> bool:
    known = [value for line in lines for value in line.y if 0 < value < float("inf")]
    negative = any(value <= 0 for line in lines for value in line.y)
    return bool(known) and not negative and max(known) > 50 * min(known)
