"""`stethoscope plan --run`: the models of a plan really run at once on one card, each within its share of it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import typer

from stethoscope.cli import run as cli_run
from stethoscope.cli.plan import distinct
from stethoscope.errors import BadSetting, StethoscopeError
from stethoscope.memory.run_settings import RunSettings
from stethoscope.memory.together_report import TogetherReport
from stethoscope.studies.lab.together import Tenant, Together, TogetherRequest

DO_NOT_FIT = 1
"""Exit code when a model that was to stay within its share did not finish, or not as it does alone."""


def run(
    models: Sequence[Path],
    card_bytes: int,
    batch_size: int,
    *,
    exceed: str = "",
    seconds: float = 3.0,
    trusted: bool = False,
    timeout_s: float = 300.0,
) -> TogetherReport:
    """Predicts with all models at once in contained processes; Ctrl-C ends with what was found until then.

    Args:
        models: their files.
        card_bytes: memory of the card; on a machine without it, the memory their processes may have altogether.
        batch_size: rows in each call.
        exceed: the model to be given more work than its share holds, by its file's name; "" for none.
        seconds: for which they run beside each other.
        trusted: whether code in the files may run.
        timeout_s: for each job.

    Raises:
        BadSetting: no such model to exceed its share.
        UnreadableFile: a file is not there.
    """
    names = distinct([path.name for path in models])
    if exceed and exceed not in names:
        raise BadSetting(f"--exceed {exceed!r}: expected one of {', '.join(names)}. Correct it.")
    tenants = []
    for name, path in zip(names, models, strict=True):
        files = cli_run.input_files(path, None)
        settings = RunSettings(batch_size=batch_size)
        beside = cli_run.beside_files(files)
        tenants.append(Tenant(name, files["model"], settings, None, beside, trusted))
    request = TogetherRequest(tenants, card_bytes, exceed=exceed, seconds=seconds, timeout_s=timeout_s)
    with (
        cli_run.short_engine(len(tenants)) as engine,
        cli_run.interruptible() as stopped,
        cli_run.progress_line() as say,
    ):
        return Together(engine, request, lambda report: say(_line(report)), stopped).run()


def exit_for(report: TogetherReport) -> None:
    """Ends with 1 where a model did not finish in its share though it was to, with 2 where they could not be run."""
    if report.verdict in ("not run", "cancelled", ""):
        sys.stderr.write(f"{report.sentence}\n")
        raise typer.Exit(StethoscopeError.exit_code)
    if report.verdict == "disturbed" or any(run.status == "out_of_memory" and not run.exceeds for run in report.runs):
        raise typer.Exit(DO_NOT_FIT)


def _line(report: TogetherReport) -> str:
    return " · ".join(f"{run.name}: {run.phase or run.state}" for run in report.runs if run.state != "waiting")
