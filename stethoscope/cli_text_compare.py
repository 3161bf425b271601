"""What `compare` prints for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

_COLOUR = {"equal": "green", "within_tolerance": "green", "different": "red"}


def comparison(value: Mapping[str, Any]) -> None:
    """Of each comparison the verdict, the outputs, where they part and why."""
    console = Console(highlight=False)
    several = value.get("comparisons") or [value]
    for place, one in enumerate(several):
        if len(several) > 1:
            console.print(("\n" if place else "") + f"[bold]{escape(one['with'])}[/]")
        _comparison(console, one)


def _comparison(console: Console, value: Mapping[str, Any]) -> None:
    if value["verdict"] is None:
        console.print(f"[red]{value['status'].replace('_', ' ')}[/]  {escape(value['reason'])}")
        return
    console.print(
        f"[{_COLOUR[value['verdict']]}]{value['verdict'].replace('_', ' ')}[/]  {escape(value.get('sentence', ''))}"
    )
    table = Table("output", "in the other", "max |a−b|", "mean |a−b|", "cosine", "same class", box=None, pad_edge=False)
    for one in value["outputs"]:
        table.add_row(
            escape(one["a"]),
            escape(one["b"] + (f" ({one['orientation']})" if one["orientation"] else "")),
            _number(one["max_abs_diff"]),
            _number(one["mean_abs_diff"]),
            "" if one["cosine"] is None else f"{one['cosine']:.6f}",
            "" if one["top1_agreement"] is None else f"{one['top1_agreement']:.1%}",
        )
    console.print(table)
    found = value["first_divergence"]
    if found:
        console.print(f"[bold]they part at[/]  {escape(found['a'])}  (in the other: {escape(found['b'])})")
        console.print(
            f"[bold]cause[/]  {escape(found['cause'])}, {found['confidence']:.0%} sure. {escape(found['sentence'])}"
        )
        if found["fix"]:
            console.print(f"[bold]fix[/]    {escape(found['fix'])}")
        for one in found.get("guesses", ()):
            console.print(f"       or: {escape(one['cause'])} ({one['confidence']:.0%}) {escape(one['sentence'])}")
    apart = [one for one in value.get("edges", ()) if not one["within"]]
    for one in apart:
        console.print(f"[yellow]edge[/]  {escape(one['case'])}: {_edge(one)}")
    for note in value.get("notes", ()):
        console.print(f"[yellow]note[/]  {escape(note)}")


def _edge(one: Mapping[str, Any]) -> str:
    if one["a"] != one["b"]:
        return f"{one['a']} here, {one['b']} there"
    return f"up to {_number(one['max_abs_diff'])} apart"


def _number(value: float | None) -> str:
    return "no number" if value is None else f"{value:.3g}"
