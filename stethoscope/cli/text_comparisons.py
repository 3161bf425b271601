"""What the commands that compare print for people: `compare`, `convert`, `drift`.

What `compare` prints for people.

What `convert` prints for people.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from stethoscope.codec import partial_of
from stethoscope.compare.convert.converter import NotConverted
from stethoscope.compare.parity.comparison import Comparison, EdgeAnswers
from stethoscope.drift.report import DriftReport, FeatureDrift, OverTime, SmallestShift, Subgroups, ToldApart
from stethoscope.sizes import human_bytes
from stethoscope.tasks.convert import Conversion
from stethoscope.types import JobResult

_SHOWN, _SHOWN_GROUPS, _SHOWN_STRETCHES = 20, 3, 12
_TESTS = {"anderson_darling": "AD", "chi_squared": "χ²", "chi_squared_permuted": "χ² perm.", "fisher_exact": "Fisher"}


def drift(report: DriftReport, monitor: str = "", history: str = "") -> None:
    """The verdict, the features, rows as wholes, groups, time, and what was left out.

    Args:
        report: what was found.
        monitor: where the settings were saved; "" where they were not.
        history: where the run was kept.
    """
    console = Console(highlight=False)
    verdict = "[red]drift[/]" if report.drifted else "[green]no drift[/]"
    console.print(f"{verdict}  {escape(report.sentence)}")
    _features(console, report.features)
    for test in report.ran:
        what = f"classifier: area {test.auc:.2f}, " if isinstance(test, ToldApart) else "MMD: "
        colour = "red" if test.drifted else "green"
        console.print(f"whole rows ({escape(test.of)})  {what}p = [{colour}]{_p(test.p_adjusted)}[/]")
    if report.subgroups is not None:
        _groups(console, report.subgroups)
    if report.over_time is not None:
        _time(console, report.over_time)
    for note in report.notes:
        console.print(f"[yellow]note[/]  {escape(note)}")
    if monitor:
        console.print(f"monitor saved  {escape(monitor)}")
    if history:
        console.print(f"run kept in  {escape(history)}")


def _features(console: Console, features: Sequence[FeatureDrift]) -> None:
    table = Table("feature", "test", "p", "PSI", "drift", "could show", box=None, pad_edge=False)
    for row in features[:_SHOWN]:
        colour = "red" if row.drifted else "default"
        table.add_row(
            escape(row.name) + (" (label)" if row.role == "label" else ""),
            _TESTS.get(row.test, row.test.replace("_", " ")),
            f"[{colour}]{_p(row.p_adjusted)}[/]",
            "" if row.psi is None else f"{row.psi_above_chance:.3g}",
            f"[{colour}]{row.effect if row.significant else ''}[/]",
            _smallest(row.smallest_detectable),
        )
    console.print(table)
    console.print(
        "[dim]p is corrected for all tests; PSI is above what chance gives; the last column is what could be found.[/]"
    )
    if len(features) > _SHOWN:
        console.print(f"… and {len(features) - _SHOWN:,} more features")


def _groups(console: Console, groups: Subgroups) -> None:
    for group in [group for group in groups.groups if group.drifted][:_SHOWN_GROUPS]:
        console.print(
            f"worst where  {escape(group.field)} is {escape(group.value)}: {escape(group.worst)} (PSI above chance "
            f"{group.psi_above_chance:.2g}, p = {_p(group.p_value)}, {group.n_reference:,} and {group.n_current:,} rows)"
        )


def _time(console: Console, over_time: OverTime) -> None:
    if not any(one.value is not None or one.prediction_p_value is not None for one in over_time.stretches):
        return
    table = Table(
        "from", "rows", over_time.measure or "labels", "95 %", "limits", "predictions", box=None, pad_edge=False
    )
    for one in over_time.stretches[-_SHOWN_STRETCHES:]:
        known = one.value is not None
        colour = "red" if one.out_of_control else "default"
        table.add_row(
            escape(one.start[:16]),
            f"{one.n:,}",
            f"[{colour}]{one.value:.3g}[/]" if known else "",
            f"{one.low:.2f} … {one.high:.2f}" if known else "",
            f"{one.lower_limit:.2f} … {one.upper_limit:.2f}" if known else "",
            "[red]drifted[/]" if one.prediction_drifted else "",
        )
    console.print(table)


def _p(value: float) -> str:
    return "< 0.0001" if value < 1e-4 else f"{value:.2g}"


def _smallest(shift: SmallestShift | None) -> str:
    if shift is None:
        return ""
    return f"{shift.value:.2g} {'sd' if shift.unit == 'standard deviations' else 'points'}"


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
