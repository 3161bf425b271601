"""What `compare` prints for people."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from stethoscope.compare.parity.comparison import Comparison, EdgeAnswers
from stethoscope.types import JobResult

_COLOUR = {"equal": "green", "within_tolerance": "green", "different": "red"}


def comparisons(titles: Sequence[str], results: Sequence[JobResult], compared: Sequence[Comparison | None]) -> None:
    """Of each comparison the verdict, the outputs, where they part and why.

    Args:
        titles: of the other models.
        results: how the comparisons ended.
        compared: what they answered; None where there is no answer.
    """
    console = Console(highlight=False)
    for place, (title, result, answer) in enumerate(zip(titles, results, compared, strict=True)):
        if len(titles) > 1:
            console.print(("\n" if place else "") + f"[bold]{escape(title)}[/]")
        if answer is None:
            console.print(f"[red]{result.status.value.replace('_', ' ')}[/]  {escape(result.reason)}")
        else:
            _comparison(console, answer)


def _comparison(console: Console, compared: Comparison) -> None:
    verdict = compared.verdict.replace("_", " ")
    console.print(f"[{_COLOUR[compared.verdict]}]{verdict}[/]  {escape(compared.sentence)}")
    table = Table("output", "in the other", "max |a−b|", "mean |a−b|", "cosine", "same class", box=None, pad_edge=False)
    for output in compared.outputs:
        table.add_row(
            escape(output.a),
            escape(output.b + (f" ({output.orientation})" if output.orientation else "")),
            _number(output.max_abs_diff),
            _number(output.mean_abs_diff),
            "" if output.cosine is None else f"{output.cosine:.6f}",
            "" if output.top1_agreement is None else f"{output.top1_agreement:.1%}",
        )
    console.print(table)
    parting = compared.first_divergence
    if parting is not None:
        console.print(f"[bold]they part at[/]  {escape(parting.a)}  (in the other: {escape(parting.b)})")
        console.print(
            f"[bold]cause[/]  {escape(parting.cause)}, {parting.confidence:.0%} sure. {escape(parting.sentence)}"
        )
        if parting.fix:
            console.print(f"[bold]fix[/]    {escape(parting.fix)}")
        for guess in parting.guesses:
            console.print(f"       or: {escape(guess.cause)} ({guess.confidence:.0%}) {escape(guess.sentence)}")
    for edge in compared.edges:
        if not edge.within:
            console.print(f"[yellow]edge[/]  {escape(edge.case)}: {_edge(edge)}")
    for note in compared.notes:
        console.print(f"[yellow]note[/]  {escape(note)}")


def _edge(edge: EdgeAnswers) -> str:
    return f"{edge.a} here, {edge.b} there" if edge.a != edge.b else f"up to {_number(edge.max_abs_diff)} apart"


def _number(value: float | None) -> str:
    return "no number" if value is None else f"{value:.3g}"
