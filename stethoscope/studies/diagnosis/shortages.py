"""What a diagnosis says where memory ran out for one or more of its parts: one finding, whichever parts they were."""

from __future__ import annotations

from collections.abc import Iterable

from stethoscope.checks.findings import Fault, Finding, Number, Severity, Table
from stethoscope.checks.fixes.fix import Advice
from stethoscope.checks.fixes.layer_code import fit_line
from stethoscope.framework_errors import ShortageReport
from stethoscope.jobs.shortage import TRAINING, tensor_sentence
from stethoscope.sizes import human_bytes
from stethoscope.studies.diagnosis.report import StageReport

OUT_OF_MEMORY = "out-of-memory"
"""Of the finding; no check raises it, as it rests on how jobs ended and not on what they gathered."""
_FIRST = ("describe", "train", "overfit", "score", "second", "prove", "examine", "consistency", "baseline", "profile")
"""Of several parts the finding is about the first of these: training is what the user asked about."""
_TRAINING = frozenset({"train", "overfit", "score", "second", "prove"})
_INSTRUMENTS = "It is a training under instruments, which takes more than fit alone. "
_MIB = float(1 << 20)


def not_looked_at(shortage: ShortageReport) -> str:
    """Why a part is not there, in the list of parts; the finding says the rest."""
    batch = f", {_rows(shortage.batch_size)} at once" if shortage.batch_size else ""
    return f"Not looked at: memory ran out in phase “{shortage.phase}”{batch}."


def leading(stages: Iterable[StageReport]) -> ShortageReport | None:
    """The report of the part that the finding is about; None where memory ran out for none."""
    short = _short(stages)
    return short[0][1] if short else None


def _short(stages: Iterable[StageReport]) -> list[tuple[StageReport, ShortageReport]]:
    short = [(stage, stage.shortage) for stage in stages if stage.shortage is not None]
    return sorted(short, key=lambda pair: _FIRST.index(pair[0].id) if pair[0].id in _FIRST else len(_FIRST))


def finding_of(stages: Iterable[StageReport]) -> Finding | None:
    """The finding; None where memory ran out for none of the stages."""
    short = _short(stages)
    if not short:
        return None
    stage, report = short[0]
    largest = max((one for _, one in short), key=lambda one: one.peak_bytes)
    titles = ", ".join(one.title[:1].lower() + one.title[1:] for one, _ in short)
    parts = tuple(
        (one.title, found.phase, found.batch_size, round(found.peak_bytes / _MIB), round(found.limit_bytes / _MIB))
        for one, found in short
    )
    return Finding(
        fault=Fault.MEMORY,
        severity=Severity.HIGH,
        confidence=1.0 if report.certain else 0.7,
        where="fit" if stage.id in _TRAINING else "data" if stage.id in ("baseline", "profile") else "predict",
        message=(
            f"Memory ran out in phase “{report.phase}” of: {stage.title[:1].lower()}{stage.title[1:]}. "
            f"{_held(report)}{_tensor(report)}{_INSTRUMENTS if report.phase in TRAINING else ''}Not looked at because of it: {titles}."
        ),
        check_id=OUT_OF_MEMORY,
        title="Out of memory",
        evidence=(
            Number("held when it ended", largest.peak_bytes / _MIB, " MiB", largest.limit_bytes / _MIB),
            Table("Where memory ran out", ("part", "phase", "rows at once", "MiB held", "MiB allowed"), parts),
        ),
        fix=Advice(text=report.advice, snippet=_line(report, stage.id in _TRAINING)),
    )


def _rows(count: int) -> str:
    return f"{count:,} row{'s' * (count != 1)}"


def _held(report: ShortageReport) -> str:
    with_rows = f" with {_rows(report.batch_size)} at once" if report.batch_size else ""
    return f"It had added {human_bytes(report.peak_bytes)} of the {human_bytes(report.limit_bytes)} it may{with_rows}. "


def _tensor(report: ShortageReport) -> str:
    sentence = tensor_sentence(report)
    return f"{sentence}. " if sentence else ""


def _line(report: ShortageReport, training: bool) -> str:
    """The line to change; "" where a number cannot be told, or it is no line of a program."""
    wanted = {change.setting: change.to for change in report.change}
    batch = wanted.get("batch_size")
    if batch and training:
        return fit_line(batch_size=str(batch))
    return f"model.predict(x, batch_size={batch})" if batch else ""
