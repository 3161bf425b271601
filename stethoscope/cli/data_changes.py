"""`stethoscope versions` and `stethoscope drift`: which version of the data this is, what changed, and whether it is still like then."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stethoscope.cli import run as cli_run
from stethoscope.cli.answers import (
    JsonOption,
    MemoryOption,
    PrepareOption,
    TargetOption,
    TimeoutOption,
    TrustOption,
    exit_for,
    failing_well,
    known,
)
from stethoscope.cli.printed import print_json, summary
from stethoscope.codec import answer_of, partial_of
from stethoscope.errors import BadSetting, StethoscopeError, UnreadableFile
from stethoscope.types import Budget, Job, JobResult, ModelFile, Status, WorkerKind

if TYPE_CHECKING:
    from stethoscope.tasks.read_versions import DataVersions

CHANGED = 1
"""Exit code with `--fail-on-change` when something changed."""


def versions(
    place: Annotated[
        Path,
        typer.Argument(
            help="Data (.npy, .npz, .csv, .tsv by their values, other files by their bytes, or a folder of them), or a DVC "
            "repository, dvc.yaml, dvc.lock or .dvc file.",
            metavar="DATA",
        ),
    ],
    before: Annotated[
        str,
        typer.Option(
            help="An older state of the same, to say what changed: a path, or a git revision like HEAD~1 of the repository it lies in."
        ),
    ] = "",
    fail_on_change: Annotated[
        bool, typer.Option("--fail-on-change", help="Exit with 1 when anything changed since --before.")
    ] = False,
    memory_limit: MemoryOption = "",
    timeout: TimeoutOption = 300.0,
    as_json: JsonOption = False,
) -> None:
    """Say which version of the data this is, and what changed since another."""
    with failing_well(), tempfile.TemporaryDirectory(prefix="stethoscope-") as scratch:
        files = {"after": _file(place)} | ({"before": _older(before, place, Path(scratch))} if before else {})
        with cli_run.short_engine() as engine:
            result = cli_run.run_job(engine, Job("read_versions", files, {}, cli_run.budget(memory_limit, timeout)))
        from stethoscope.tasks.read_versions import DataVersions

        if as_json:
            value = summary(result) | known(result, DataVersions)
            for change in value.get("changes", ()):
                if isinstance(change, dict):
                    change["from"] = change["to"] - 1
            print_json(value)
        elif result.status is Status.OK:
            sys.stdout.write("\n".join(version_lines(answer_of(result, DataVersions))) + "\n")
        exit_for(result)
        if fail_on_change and answer_of(result, DataVersions).changes:
            raise typer.Exit(CHANGED)


def version_lines(found: DataVersions) -> Iterator[str]:
    """The answer for people, a line for each thing worth knowing."""
    for data in found.fingerprints:
        yield f"{data.sha256}  {_plain(data.name)}"
        if len(data.parts) > 1:
            yield from (f"  {part.sha256[:16]}  {_plain(part.name)} {part.shape}" for part in data.parts)
    for state in found.states:
        yield f"{state.version or 'no data '}  {_plain(state.name)}"
        yield from (f"  data {_plain(data.path)}  {data.hash[:16] or 'no hash'}" for data in state.data)
        for stage in state.stages:
            note = stage.outdated or ("up to date" if stage.ran else "never ran")
            yield f"  stage {_plain(stage.name)}: {_plain(note)}"
        yield from (f"  {_plain(name)} = {_plain(number)}" for name, number in state.metrics.items())
        yield from (f"  ! {_plain(text)}" for text in state.problems)
    if len(found.states) + len(found.fingerprints) > 1:
        texts = [change if isinstance(change, str) else change.text for change in found.changes]
        yield from ("", *(_plain(text) for text in texts or ["Nothing changed."]))


def _plain(text: object) -> str:
    """Names out of files without what a terminal would obey."""
    return "".join(character if character.isprintable() else "?" for character in str(text))[:500]


def _file(place: Path) -> ModelFile:
    if not place.exists():
        raise UnreadableFile(f"{place}: expected a file or a folder, got nothing there. Check the path.")
    return ModelFile.at(place.resolve())


def _older(before: str, place: Path, scratch: Path) -> ModelFile:
    """What lies at a path, else what git has of `place` at that revision."""
    if Path(before).exists():
        return _file(Path(before))
    from stethoscope.logs.git_revision import extracted

    found = extracted(place.resolve(), before, scratch)
    return ModelFile(found.path, found.name)


DRIFTED = 1
"""Exit code where there is drift."""
_EMPTY: dict[str, Any] = {"verdict": None, "sentence": "", "features": [], "smallest_detectable": None, "settings": {}}


def drift(
    places: Annotated[
        list[Path],
        typer.Argument(
            metavar="REFERENCE CURRENT",
            help="Data of then and data of today, of any kind that --data of other commands reads. One file: a log that is divided "
            "in two by its column of moments. With --monitor: the data of today only.",
        ),
    ],
    model: Annotated[
        Path | None,
        typer.Option(help="Also compare what this model makes of both: a layer's output and its predictions."),
    ] = None,
    layer: Annotated[
        str, typer.Option(help="With --model, the layer (path of `describe`); the last before the output.")
    ] = "",
    alpha: Annotated[float, typer.Option(help="How often the verdict may be drift where there is none.")] = 0.05,
    min_effect: Annotated[
        str, typer.Option(help="A smaller drift counts as none: small, large, or a PSI above chance like 0.1.")
    ] = "",
    columns: Annotated[str, typer.Option(help="Only these columns, separated by commas.")] = "",
    ignore: Annotated[str, typer.Option(help="Columns left out, separated by commas.")] = "",
    time: Annotated[str, typer.Option(help="The column of moments of a log of predictions; none for none.")] = "",
    prediction: Annotated[str, typer.Option(help="The column of predictions in a log.")] = "",
    confidence: Annotated[str, typer.Option(help="The column of how sure they are.")] = "",
    label: Annotated[str, typer.Option(help="The column of labels that came later.")] = "",
    rows: Annotated[int, typer.Option(min=10, help="Rows of each side that are read at most, at random.")] = 50_000,
    seed: Annotated[int, typer.Option(help="Seed of whatever is random.")] = 0,
    subgroups: Annotated[
        bool, typer.Option("--subgroups/--no-subgroups", help="Look for groups that drift most.")
    ] = True,
    monitor: Annotated[Path | None, typer.Option(help="Run this saved monitor; its runs are kept beside it.")] = None,
    save_monitor: Annotated[Path | None, typer.Option(help="Save these settings as a monitor.")] = None,
    webhook: Annotated[str, typer.Option(help="An http(s) address to which drift is posted as JSON.")] = "",
    prepare: PrepareOption = "",
    target: TargetOption = "",
    memory_limit: MemoryOption = "",
    timeout: TimeoutOption = 600.0,
    trust: TrustOption = False,
    as_json: JsonOption = False,
) -> None:
    """Has the data drifted: in which columns, by how much, and could so few rows have shown it? Exits with 1 where it has."""
    with failing_well():
        from stethoscope.drift.report import DriftReport
        from stethoscope.drift.settings import DriftSettings
        from stethoscope.studies.monitor import Monitor, checked_url, history_path, post, remember

        if monitor is not None:
            asked = Monitor.load(monitor)
            _only_current(places, monitor)
            asked = replace(asked, webhook=checked_url(webhook) or asked.webhook)
            current: Path | None = places[0]
        else:
            if len(places) > 2:
                raise BadSetting(
                    f"Expected two files, reference and current, got {len(places)}. Compare two at a time."
                )
            current = places[1] if len(places) == 2 else None
            job = cli_run.data_params(prepare, target) | ({"trusted": True} if trust else {})
            settings = DriftSettings.from_json(
                {
                    "alpha": alpha,
                    "min_effect": min_effect,
                    "rows": rows,
                    "seed": seed,
                    "layer": layer,
                    "time": time,
                    "prediction": prediction,
                    "confidence": confidence,
                    "label": label,
                    "subgroups": subgroups,
                    "columns": _names(columns),
                    "ignore": _names(ignore),
                }
            )
            asked = Monitor(places[0].resolve(), settings, model and model.resolve(), checked_url(webhook), job)
        try:
            result = _run_drift(asked, current, cli_run.budget(memory_limit, timeout))
        except StethoscopeError as error:
            if monitor is not None:
                # A run that could not begin is a gap in the history, which is to be seen.
                remember(monitor, places[-1].name, Status.FAILED, None, str(error))
            raise
        value = {
            **summary(result),
            "peak_rss_bytes": result.peak_rss_bytes,
            "wall_s": result.wall_s,
            **_EMPTY,
            **known(result, DriftReport),
        }
        report, done = partial_of(result, DriftReport), dict[str, Any]()
        if save_monitor is not None and result.status is Status.OK:
            asked.save(save_monitor)
            done["monitor"] = str(save_monitor.resolve())
        if monitor is not None:
            remember(monitor, places[-1].name, result.status, report, result.reason)
            done["history"] = str(history_path(monitor).resolve())
        if asked.webhook and report is not None and report.drifted:
            problem = post(asked.webhook, value)
            done["webhook"] = {"sent": not problem, "reason": problem}
            if problem:
                sys.stderr.write(f"{problem}\n")
        if as_json:
            print_json(value | done)
        elif result.status is Status.OK and report is not None:
            from stethoscope.cli.text_comparisons import drift as for_people

            for_people(report, done.get("monitor", ""), done.get("history", ""))
        exit_for(result)
        if report is not None and report.drifted:
            raise typer.Exit(DRIFTED)


def _run_drift(asked: Any, current: Path | None, limits: Budget) -> JobResult:
    """Runs the job: in a light worker without a model, in the model's kind of worker with one."""
    files = {"reference": _side(asked.reference, "reference")}
    if current is not None:
        files["current"] = _side(current, "current data")
    params = asked.settings.to_json() | dict(asked.job)
    worker: WorkerKind = "light"
    with cli_run.short_engine() as engine:
        if asked.model is not None:
            files |= cli_run.input_files(asked.model, None)
            described, worker = cli_run.describe_kind(engine, files, limits)
            if described.status is not Status.OK:
                return described
        return cli_run.run_job(engine, Job("drift", files, params, limits, worker))


def _only_current(places: list[Path], monitor: Path) -> None:
    if len(places) != 1:
        raise BadSetting(f"With --monitor {monitor.name}: expected one file, the current data, got {len(places)}.")


def _side(place: Path, role: str) -> ModelFile:
    whole = place.resolve()
    if not whole.exists():
        raise UnreadableFile(f"{place.name}: no such file. Check the path given for the {role}.")
    return ModelFile.at(whole)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
