"""What `convert` prints for people."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.markup import escape

from stethoscope.codec import partial_of
from stethoscope.compare.convert.converter import NotConverted
from stethoscope.sizes import human_bytes
from stethoscope.tasks.convert import Conversion
from stethoscope.types import JobResult


def conversion(made: Conversion, path: Path) -> None:
    """Where the file is, that it runs, how far it is off, what it gained."""
    console = Console(highlight=False)
    console.print(f"[bold]{escape(made.title)}[/]  {escape(str(path))}")
    console.print(f"size    {human_bytes(made.source_size_bytes)} → {human_bytes(made.size_bytes)}")
    times = made.time_s
    console.print(f"time    {1e3 * times.before:.3g} ms → {1e3 * times.after:.3g} ms for {made.rows} row(s)")
    far = "values that are no numbers" if made.max_abs_diff is None else f"at most {made.max_abs_diff:.2g}"
    agreed = "" if made.top1_agreement is None else f", same class in {made.top1_agreement:.1%} of rows"
    console.print(f"off by  {far}{agreed} (input: {escape(made.source)})")
    for note in made.notes:
        console.print(f"[yellow]note[/]    {escape(note)}")


def refusal(result: JobResult) -> None:
    """What stood in the way."""
    console = Console(highlight=False)
    console.print(f"[red]not converted[/]  {escape(result.reason)}")
    refused = partial_of(result, NotConverted)
    for operator in refused.unsupported if refused is not None else ():
        where = f" in {escape(operator.layer)}" if operator.layer else ""
        console.print(f"  {escape(operator.operator)}{where}  {escape(operator.way_round)}")
