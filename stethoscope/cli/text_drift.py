"""What `drift` prints for people."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from stethoscope.drift.report import DriftReport, FeatureDrift, OverTime, SmallestShift, Subgroups, ToldApart

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
