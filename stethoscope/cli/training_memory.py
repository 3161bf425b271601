"""`stethoscope sweep --train`: peak memory and time of `fit` over batch sizes, and with `--advise` what would lower the peak."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from stethoscope.cli import run as cli_run
from stethoscope.cli.answers import known
from stethoscope.cli.printed import summary
from stethoscope.cli.settings import run_settings
from stethoscope.codec import partial_of
from stethoscope.errors import BadSetting
from stethoscope.evidence.fit import FitSettings
from stethoscope.memory.fit_changes import CHANGE_KINDS
from stethoscope.memory.run_settings import RunSettings
from stethoscope.memory.training_points import FitAndPredict, FitTrial, TrainingSwept
from stethoscope.sizes import human_bytes
from stethoscope.types import Budget, JobResult, Status


def change_kinds(text: str, default: str) -> tuple[str, ...]:
    """Reads "precision,optimizer"; all kinds where the option was left as it is.

    Raises:
        BadSetting: an unknown kind of change.
    """
    if text == default:
        return CHANGE_KINDS
    kinds = tuple(part.strip() for part in text.split(",") if part.strip())
    for kind in kinds:
        if kind not in CHANGE_KINDS:
            raise BadSetting(f"--changes {kind!r}: expected, with --train, some of {', '.join(CHANGE_KINDS)}.")
    return kinds


def refuse(*, estimate_only: bool, precision: str, xla: bool) -> None:
    """Raises BadSetting for options that make no sense with `--train`."""
    if estimate_only:
        raise BadSetting("--estimate-only: expected a call to estimate, got --train, which is measured only.")
    if precision != "as saved" or xla:
        raise BadSetting("--train: expected the model as it is saved. Ask for --advise, which tries precisions.")


def settings(device: str, memory_limit: str) -> RunSettings:
    """The settings of the processes that train.

    Raises:
        BadSetting: no such device, or no size.
    """
    return run_settings(
        batch_size=1, call="function", precision="as saved", xla=False, device=device, memory_limit=memory_limit
    )


def swept(
    model: Path,
    data: Path | None,
    data_params: Mapping[str, Any],
    used: RunSettings,
    rows: Sequence[int],
    sizes: Sequence[int],
    fit: str | None,
    kinds: Sequence[str],
    limits: Budget,
    **more: Any,
) -> JobResult:
    """How the job ended.

    Raises:
        StethoscopeError: the model could not be described, or a fit setting makes no sense.
    """
    from stethoscope.studies.checked_sweep import as_checked, as_ended

    params = {
        "settings": used.to_json(),
        "batch_sizes": list(rows),
        "sizes": list(sizes),
        "fit": FitSettings.parse(fit).to_json() if fit else {},
        "changes": list(kinds),
        **more,
        **data_params,
    }
    result, _ = cli_run.model_job("sweep_training", model, data, params, limits)
    return as_ended(as_checked(result))


def answer(result: JobResult) -> dict[str, Any]:
    """One object in the shape of a sweep: points of `call` "fit", and the keys of `TrainingSwept`."""
    value = known(result, TrainingSwept)
    points, largest = value.pop("points", []), value.pop("largest_batch", None)
    call = {"call": "fit", **summary(result), "wall_s": result.wall_s, "peak_rss_bytes": result.peak_rss_bytes}
    return {**summary(result), "points": points, "largest_batch": largest, "calls": [{**call, **value}]}


def show(result: JobResult) -> None:
    """Prints what `sweep` prints, how it was trained, the changes by rank, and `predict` beside `fit`."""
    from stethoscope.cli import cost

    cost.sweep({"fit": result})
    console, found = Console(highlight=False), partial_of(result, TrainingSwept)
    if found is None:
        return
    console.print(
        f"fit on {found.rows} batches of random or given rows in a process of its own, {escape(found.optimizer)}, "
        f"{escape(found.loss)}; each further row of data adds {human_bytes(found.row_bytes)}",
        soft_wrap=True,
    )
    for sentence in found.assumed:
        console.print(f"[yellow]note[/]  {escape(sentence)}", soft_wrap=True)
    if found.trials:
        _trials(console, found)
    if found.compared:
        _compared(console, found.compared)


def _trials(console: Console, found: TrainingSwept) -> None:
    at = next((p for p in found.points if p.batch_size == found.trials_batch), None)
    table = Table(f"at batch {found.trials_batch:,}", "peak", "saved", "ms a sample", "")
    if at is not None and at.measured_peak_bytes and at.time_per_sample_s:
        table.add_row("as it is", human_bytes(at.measured_peak_bytes), "", f"{1000 * at.time_per_sample_s:.3g}", "")
    for trial in found.trials:
        table.add_row(*_row(trial))
    console.print(table)
    for item in found.untried:
        console.print(f"{item.kind}: not tried. {escape(item.reason)}", soft_wrap=True)
    best = next((trial for trial in found.trials if trial.change.id == found.best), None)
    if best is None:
        console.print("None of what was tried lowers the peak by more than equal runs differ by.")
        return
    console.print(f"What lowers the peak most: {escape(best.change.title)}\n\n{escape(best.change.code)}\n")


def _row(trial: FitTrial) -> tuple[str, ...]:
    ran = trial.status is Status.OK
    return (
        escape(trial.change.title),
        "" if trial.peak_bytes is None else human_bytes(trial.peak_bytes),
        "" if trial.saved_fraction is None else f"{trial.saved_fraction:+.0%}",
        "" if trial.time_per_sample_s is None else f"{1000 * trial.time_per_sample_s:.3g}",
        escape(trial.change.changes_result if ran else f"{trial.status.words}: {trial.reason}"),
    )


def _compared(console: Console, compared: FitAndPredict) -> None:
    console.print(escape(compared.sentence), soft_wrap=True)
    for call, parts in (("fit", compared.fit), ("predict", compared.predict)):
        told = ", ".join(f"{part.name} {human_bytes(part.size_bytes)}" for part in parts)
        console.print(f"  {call}: {told}", soft_wrap=True)
