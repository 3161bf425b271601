"""`stethoscope data`: data studied as a whole, and labels that predictions speak against."""

from __future__ import annotations

from collections.abc import Mapping
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
    worst,
)
from stethoscope.cli.printed import print_json, summary
from stethoscope.codec import partial_of, plain
from stethoscope.errors import UnreadableFile
from stethoscope.framework_errors import shortage_of
from stethoscope.types import Budget, Job, JobResult, ModelFile, Status

if TYPE_CHECKING:
    from rich.console import Console

    from stethoscope.data.study.study import StudiedField

_SHOWN_FIELDS, _SHOWN_DOUBTS, _SHOWN_ROWS = 40, 20, 8


def data(
    places: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE…",
            help="Data of any kind that --data of other commands reads; several are studied one by one.",
        ),
    ],
    model: Annotated[
        Path | None,
        typer.Option(
            help="Whose predictions are held against the labels; without one, simple models that have not seen the row."
        ),
    ] = None,
    doubts: Annotated[bool, typer.Option("--doubts/--no-doubts", help="Look for labels that are doubtful.")] = True,
    rows: Annotated[int, typer.Option(min=10, help="Rows whose labels are judged at most.")] = 50_000,
    seconds: Annotated[float, typer.Option(min=0.1, help="Seconds to read for; then what was read is studied.")] = 30.0,
    seed: Annotated[int, typer.Option(help="Seed of the rows that are chosen at random.")] = 0,
    prepare: PrepareOption = "",
    target: TargetOption = "",
    memory_limit: MemoryOption = "",
    timeout: TimeoutOption = 300.0,
    trust: TrustOption = False,
    as_json: JsonOption = False,
) -> None:
    """What is in this data, what stands out in it, and which labels are doubtful? As on the page Data."""
    with failing_well():
        limits = cli_run.budget(memory_limit, timeout)
        params = cli_run.data_params(prepare, target) | {"seed": seed}
        of_study = {"time_s": min(seconds, limits.timeout_s)} | {
            name: value for name, value in params.items() if name != "preparation"
        }
        of_labels = params | {"rows": rows, "trusted": trust} if doubts else None
        answers: list[dict[str, Any]] = []
        results: dict[str, JobResult] = {}
        for place in places:
            studied, judged = _asked(place, model, of_study, of_labels, limits)
            results[str(place)] = studied if studied.status is not Status.OK else judged or studied
            if as_json:
                answers.append(_answer(place, studied, judged))
            else:
                _print(place, studied, judged, several=len(places) > 1)
        if as_json:
            print_json(answers[0] if len(answers) == 1 else {**summary(worst(results)), "files": answers})
        exit_for(worst(results))


def _asked(
    place: Path, model: Path | None, of_study: Mapping[str, Any], of_labels: Mapping[str, Any] | None, limits: Budget
) -> tuple[JobResult, JobResult | None]:
    """How the study ended, and the search for doubtful labels where it was asked for."""
    if not place.exists():
        raise UnreadableFile(f"{place.name}: no such file. Check the path given for the data.")
    file = ModelFile.at(place.resolve())
    with cli_run.short_engine() as engine:
        studied = cli_run.run_job(engine, Job("study_data", {"data": file}, of_study, limits))
        if studied.status is not Status.OK or of_labels is None:
            return studied, None
        if model is None:
            return studied, cli_run.run_job(engine, Job("label_doubts", {"data": file}, of_labels, limits))
        files = cli_run.input_files(model, place)
        described, worker = cli_run.describe_kind(engine, files)
        if described.status is not Status.OK:
            return studied, described
        return studied, cli_run.run_job(engine, Job("label_doubts", files, of_labels, limits, worker))


def _answer(place: Path, studied: JobResult, judged: JobResult | None) -> dict[str, Any]:
    from stethoscope.data.study.remarks import remarks
    from stethoscope.data.study.study import StudiedData
    from stethoscope.evidence.judged_labels import JudgedLabels

    found = partial_of(studied, StudiedData)
    told = [] if found is None else [{"text": one.plain, "rows": list(one.rows)} for one in remarks(found)]
    labels = None if judged is None else {**summary(judged), **known(judged, JudgedLabels)}
    ended = judged if studied.status is Status.OK and judged is not None else studied
    shortage = shortage_of(ended)
    return {
        **summary(ended),
        **({} if shortage is None else {"oom": plain(shortage)}),
        "data": place.name,
        "remarks": told,
        "study": None if found is None else plain(found),
        "labels": labels,
    }


def _print(place: Path, studied: JobResult, judged: JobResult | None, *, several: bool) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from stethoscope.data.study.remarks import remarks
    from stethoscope.data.study.study import StudiedData

    console = Console(highlight=False)
    if several:
        console.print(f"[bold]{escape(place.name)}[/]")
    found = partial_of(studied, StudiedData)
    if found is None:
        console.print(f"[red]{studied.status.value.replace('_', ' ')}[/]  {escape(studied.reason)}")
        return
    read = "" if found.complete else f", {found.rows_read:,} of them read ({found.order})"
    console.print(f"{escape(found.about.title)}, {found.rows:,} rows{read}")
    table = Table("field", "kind", "role", "what it holds", box=None, pad_edge=False)
    for one in found.fields[:_SHOWN_FIELDS]:
        table.add_row(escape(one.name), one.kind, one.role, escape(_holds(one)))
    console.print(table)
    if len(found.fields) > _SHOWN_FIELDS:
        console.print(f"… and {len(found.fields) - _SHOWN_FIELDS:,} more fields")
    told = list(remarks(found))
    for remark in told:
        rows = f"  [dim]rows {_listed(remark.rows)}[/]" if remark.rows else ""
        console.print(f"[yellow]stands out[/]  {escape(remark.plain)}{rows}")
    if not told:
        console.print("[green]nothing stands out[/]  among what was read")
    if judged is not None:
        _labels(console, judged)


def _holds(one: StudiedField) -> str:
    of = one.of
    match of.study:
        case "number":
            return "" if of.mean is None else f"{of.min:.4g} … {of.max:.4g}, mean {of.mean:.4g}, sd {of.std:.3g}"
        case "category":
            counted = ", ".join(f"{value.value[:30]} ({value.count:,})" for value in of.values[:4])
            return f"{'many' if of.distinct is None else f'{of.distinct:,}'} values: {counted}"
        case "picture":
            sizes = ", ".join(f"{size.width}×{size.height} ({size.count:,})" for size in of.sizes[:3])
            return f"{of.distinct_sizes:,} sizes: {sizes}"
    return ""


def _listed(rows: tuple[int, ...]) -> str:
    return ", ".join(map(str, rows[:_SHOWN_ROWS])) + (" …" if len(rows) > _SHOWN_ROWS else "")


def _labels(console: Console, judged: JobResult) -> None:
    from rich.markup import escape
    from rich.table import Table

    from stethoscope.evidence.judged_labels import JudgedLabels

    found = partial_of(judged, JudgedLabels)
    if found is None:
        console.print(f"[red]labels not judged[/]  {escape(judged.reason)}")
        return
    if not found.possible:
        console.print(f"[yellow]labels not judged[/]  {escape(found.why_not)}")
        return
    whose = "the model" if found.by == "model" else "simple models that had not seen the row"
    console.print(
        f"[{'yellow' if found.count else 'green'}]{found.count:,} doubtful labels[/]  of {found.rows:,} rows, judged by {whose}; they "
        f"agree with {found.accuracy:.1%} of the labels. Taken at their word, about {found.expected_right:.0f} of the doubted are right."
    )
    if not found.doubts:
        return
    table = Table("row", "label", "predicted", "sure of the label", "of the other", box=None, pad_edge=False)
    for one in found.doubts[:_SHOWN_DOUBTS]:
        table.add_row(
            f"{one.place:,}",
            escape(one.given[:40]),
            escape(one.predicted[:40]),
            f"{one.probability_given:.2f}",
            f"{one.probability_predicted:.2f}",
        )
    console.print(table)
    if found.count > _SHOWN_DOUBTS:
        console.print(
            f"… and {found.count - _SHOWN_DOUBTS:,} more (--json has {min(found.count, len(found.doubts)):,})"
        )
