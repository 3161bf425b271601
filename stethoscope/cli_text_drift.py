"""What `drift` prints for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

_SHOWN, _SHOWN_GROUPS, _SHOWN_STRETCHES = 20, 3, 12
_TESTS = {"anderson_darling": "AD", "chi_squared": "χ²", "chi_squared_permuted": "χ² perm.", "fisher_exact": "Fisher"}


def drift(value: Mapping[str, Any]) -> None:
    """The verdict, the features, rows as wholes, groups, time, and what was left out."""
    console = Console(highlight=False)
    drifted = value["verdict"] == "drift"
    console.print(
        f"[{'red' if drifted else 'green'}]{'drift' if drifted else 'no drift'}[/]  {escape(value['sentence'])}"
    )
    _features(console, value)
    for one in value["whole"]:
        if "p_value" in one:
            what = "classifier" if one["test"] == "domain_classifier" else "MMD"
            size = f"area {one['auc']:.2f}, " if one["test"] == "domain_classifier" else ""
            colour = "red" if one["drifted"] else "green"
            console.print(f"whole rows ({escape(one['of'])})  {what}: {size}p = [{colour}]{_p(one['p_adjusted'])}[/]")
    _groups(console, value["subgroups"])
    _time(console, value["over_time"])
    for note in value["notes"]:
        console.print(f"[yellow]note[/]  {escape(note)}")
    for key, said in (("monitor", "monitor saved"), ("history", "run kept in")):
        if value.get(key):
            console.print(f"{said}  {escape(value[key])}")


def _features(console: Console, value: Mapping[str, Any]) -> None:
    table = Table("feature", "test", "p", "PSI", "drift", "could show", box=None, pad_edge=False)
    for one in value["features"][:_SHOWN]:
        colour = "red" if one["drifted"] else "default"
        table.add_row(
            escape(one["name"]) + (" (label)" if one["role"] == "label" else ""),
            _TESTS.get(one["test"], one["test"].replace("_", " ")),
            f"[{colour}]{_p(one['p_adjusted'])}[/]",
            "" if one["psi"] is None else f"{one['psi_above_chance']:.3g}",
            f"[{colour}]{one['effect'] if one['significant'] else ''}[/]",
            _smallest(one["smallest_detectable"]),
        )
    console.print(table)
    console.print(
        "[dim]p is corrected for all tests; PSI is above what chance gives; the last column is what could be found.[/]"
    )
    if len(value["features"]) > _SHOWN:
        console.print(f"… and {len(value['features']) - _SHOWN:,} more features")


def _groups(console: Console, groups: Mapping[str, Any] | None) -> None:
    for one in [one for one in (groups or {}).get("groups", ()) if one["drifted"]][:_SHOWN_GROUPS]:
        console.print(
            f"worst where  {escape(one['field'])} is {escape(one['value'])}: {escape(one['worst'])} (PSI above chance "
            f"{one['psi_above_chance']:.2g}, p = {_p(one['p_value'])}, {one['n_reference']:,} and {one['n_current']:,} rows)"
        )


def _time(console: Console, found: Mapping[str, Any] | None) -> None:
    if not found or not any(
        one["value"] is not None or one.get("prediction_p_value") is not None for one in found["stretches"]
    ):
        return
    table = Table(
        "from", "rows", found["measure"] or "labels", "95 %", "limits", "predictions", box=None, pad_edge=False
    )
    for one in found["stretches"][-_SHOWN_STRETCHES:]:
        known = one["value"] is not None
        colour = "red" if one["out_of_control"] else "default"
        table.add_row(
            escape(one["start"][:16]),
            f"{one['n']:,}",
            f"[{colour}]{one['value']:.3g}[/]" if known else "",
            f"{one['low']:.2f} … {one['high']:.2f}" if known else "",
            f"{one['lower_limit']:.2f} … {one['upper_limit']:.2f}" if known else "",
            "[red]drifted[/]" if one.get("prediction_drifted") else "",
        )
    console.print(table)


def _p(value: float) -> str:
    return "< 0.0001" if value < 1e-4 else f"{value:.2g}"


def _smallest(one: Mapping[str, Any] | None) -> str:
    if one is None:
        return ""
    return f"{one['value']:.2g} sd" if one["unit"] == "standard deviations" else f"{one['value']:.2g} points"
