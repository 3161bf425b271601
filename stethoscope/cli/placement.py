"""`stethoscope placement`: train here, predict there; the clash of devices made to happen, and each remedy tried."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import typer

from stethoscope.cli import run as cli_run
from stethoscope.cli.answers import (
    DataOption,
    JsonOption,
    MemoryOption,
    ModelArgument,
    PrepareOption,
    TargetOption,
    TimeoutOption,
    TrustOption,
    exit_for,
    failing_well,
    known,
)
from stethoscope.cli.printed import print_json, summary
from stethoscope.codec import partial_of
from stethoscope.errors import BadSetting

if TYPE_CHECKING:
    from rich.console import Console

    from stethoscope.training.placement.placement_report import Attempt, PlacementReport

WithXla = Literal["auto", "as saved", "on"]
_DEFINED = re.compile(r" \(defined @ [^()]*(?:\([^()]*\))?[^()]*\)")
"""Where TensorFlow says a variable was made: always a line of Keras' own."""
CLASHES = 1
"""Exit code where it clashes as saved."""


def placement(
    model: ModelArgument,
    data: DataOption = None,
    prepare: PrepareOption = "",
    target: TargetOption = "",
    fit: Annotated[
        str, typer.Option(help="How it was trained: batch_size=32,loss=…,optimizer=…; the file's own where not given.")
    ] = "",
    xla: Annotated[
        str,
        typer.Option(
            help="auto (as saved, then as Keras 3 compiles on an accelerator), as-saved, or on (jit_compile=True)."
        ),
    ] = "auto",
    memory_limit: MemoryOption = "",
    timeout: TimeoutOption = 300.0,
    trust: TrustOption = False,
    as_json: JsonOption = False,
) -> None:
    """Trained on one device, does it predict on another? Tried here on two, with each remedy. Exits with 1 where it clashes as saved."""
    with failing_well():
        from stethoscope.training.placement.placement_report import PlacementReport

        way = xla.replace("-", " ")
        if way not in get_args(WithXla):
            raise BadSetting(f"--xla {xla!r}: expected auto, as-saved or on. Correct it.")
        params: dict[str, Any] = {"with_xla": way, "trusted": trust} | cli_run.data_params(prepare, target)
        if fit:
            from stethoscope.evidence.fit import FitSettings

            params["fit"] = FitSettings.parse(fit).to_json()
        result, _ = cli_run.model_job("placement", model, data, params, cli_run.budget(memory_limit, timeout))
        report = partial_of(result, PlacementReport)
        if as_json:
            print_json({**summary(result), "clash": None, "attempts": [], **known(result, PlacementReport)})
        elif report is not None:
            _print(report)
        exit_for(result)
        if report is not None and report.clash is not None and report.clash.happened and not report.clash.assumed:
            raise typer.Exit(CLASHES)


def _print(report: PlacementReport) -> None:
    from rich.console import Console
    from rich.markup import escape

    console = Console(highlight=False)
    clash = report.clash
    happened = clash is not None and clash.happened
    unknown = clash is None or clash.other_error
    label = "[yellow]no answer[/]" if unknown else "[red]it clashes[/]" if happened else "[green]no clash[/]"
    console.print(f"{label}  {escape(report.sentence)}")
    console.print(f"[dim]{escape(report.use.sentence)}[/]")
    if clash is not None and clash.message:
        console.print(f"[dim]TensorFlow says: {escape(_DEFINED.sub('', clash.message)[:400])}[/]")
    for attempt in report.attempts:
        _attempt(console, attempt)
    for said in report.assumed:
        console.print(f"[yellow]note[/]  {escape(said)}")


def _attempt(console: Console, attempt: Attempt) -> None:
    from rich.markup import escape
    from rich.padding import Padding

    works = attempt.works and attempt.equal
    colour, label = (
        ("dim", "not tried") if not attempt.tried else ("green", "works") if works else ("red", "does not work")
    )
    console.print(f"\n[{colour}]{label}[/]  [bold]{escape(attempt.title)}[/]")
    for text in (attempt.reason, attempt.note, attempt.when):
        if text:
            console.print(Padding(escape(text), (0, 0, 0, 2)))
    if attempt.works and attempt.max_abs_diff is not None:
        console.print(f"  [dim]outputs differ by at most {attempt.max_abs_diff:.2g}[/]")
    for line in attempt.code.splitlines():
        console.print(f"      {escape(line)}", soft_wrap=True)
