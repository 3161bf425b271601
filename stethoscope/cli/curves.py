"""`stethoscope curves`: training logs as a table with what is wrong, as JSON, or every point as CSV."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stethoscope.cli import run as cli_run
from stethoscope.cli.answers import JsonOption, MemoryOption, TimeoutOption, exit_for, failing_well, severity, writing
from stethoscope.cli.printed import print_json, summary
from stethoscope.codec import answer_of, plain
from stethoscope.errors import BadSetting, UnreadableFile
from stethoscope.types import Job, JobResult, ModelFile, Status

if TYPE_CHECKING:
    from stethoscope.tasks.examine_runs import LogReport

FOUND = 1
"""Exit code when there is a finding at or above `--fail-on`."""
_TOKEN, _USER, _PASSWORD = "MLFLOW_TRACKING_TOKEN", "MLFLOW_TRACKING_USERNAME", "MLFLOW_TRACKING_PASSWORD"


def curves(
    logs: Annotated[
        str,
        typer.Argument(
            help="A folder, archive or file of training logs: event files, MLflow store or .db, DVC repository, Keras CSV or "
            "history JSON; or the http(s) address of an MLflow server.",
            metavar="LOGDIR",
        ),
    ],
    run: Annotated[str, typer.Option(help="Only runs in whose name this regular expression is found.")] = "",
    tag: Annotated[str, typer.Option(help="List only tags in which this regular expression is found.")] = "",
    csv: Annotated[Path | None, typer.Option(help="Write every point: run, tag, step, wall_time, value.")] = None,
    fail_on: Annotated[
        str, typer.Option(help="Exit with 1 from this severity: info, low, medium, high, critical.")
    ] = "high",
    memory_limit: MemoryOption = "",
    timeout: TimeoutOption = 600.0,
    as_json: JsonOption = False,
) -> None:
    """Read training logs: runs, tags, how whole the files are, and what went wrong in the training."""
    with failing_well():
        level = severity(fail_on)
        for option, text in (("--run", run), ("--tag", tag)):
            _checked(option, text)
        if re.match(r"https?://", logs):
            report = _from_server(logs, run, tag, csv)
        else:
            result = _from_files(
                Path(logs), {"runs": run, "tags": tag, "points": csv is not None}, csv, memory_limit, timeout
            )
            if result.status is not Status.OK:
                if as_json:
                    print_json(summary(result) | {"runs": [], "findings": []})
                exit_for(result)
            from stethoscope.tasks.examine_runs import LogReport

            report = answer_of(result, LogReport)
        if as_json:
            print_json(plain(report))
        else:
            from stethoscope.cli.text import tables

            tables(report, csv)
        if any(finding.severity >= level for finding in report.findings):
            raise typer.Exit(FOUND)


def _checked(option: str, text: str) -> None:
    try:
        re.compile(text)
    except re.error as error:
        raise BadSetting(
            f"{option} {text!r}: expected a regular expression, got an error: {error}. Correct it."
        ) from error


def _from_files(place: Path, params: Mapping[str, Any], csv: Path | None, memory: str, timeout: float) -> JobResult:
    if not place.exists():
        raise UnreadableFile(f"{place}: no such file or folder. Check the path.")
    limits = cli_run.budget(memory, timeout)
    file = ModelFile(place.resolve(), place.name or place.resolve().name)
    with cli_run.short_engine() as engine:
        result = cli_run.run_job(engine, Job("examine_runs", {"logs": file}, params, limits))
        if csv is not None and "points.csv" in result.files:
            with writing(csv):
                shutil.copyfile(result.files["points.csv"], csv)
        return result


def _from_server(url: str, run: str, tag: str, csv: Path | None) -> LogReport:
    """Runs of an MLflow server; credentials come from MLflow's own environment variables."""
    from stethoscope.logs.bounded_json import JsonServer
    from stethoscope.logs.mlflow_server import MlflowServer
    from stethoscope.logs.runs.export import write_points
    from stethoscope.tasks.examine_runs import examine_runs

    with cli_run.progress_line() as say:
        say(f"asking {url}")
        token, user, password = (os.environ.get(name, "") for name in (_TOKEN, _USER, _PASSWORD))
        server = MlflowServer(JsonServer(url, token=token, user=user, password=password))
        found = server.read(server.experiments())
        runs = [one for one in found if re.search(run, one.run)]
        report = examine_runs(runs, lambda fraction, message: say(message), tags=re.compile(tag))
    if csv is not None:
        with writing(csv), csv.open("w", encoding="utf-8", newline="") as stream:
            write_points(runs, stream, re.compile(tag))
    return report
