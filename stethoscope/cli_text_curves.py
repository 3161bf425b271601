"""What `curves` prints for people: runs and tags, how whole the files are, then what is wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from stethoscope.cli_text_check import print_finding
from stethoscope.diagnosis.finding_json import finding_from_json

_SHOWN_ROWS = 60


def tables(value: Mapping[str, Any], csv: Path | None = None) -> None:
    """Prints the answer of `curves`."""
    console = Console(highlight=False)
    _runs(console, value["runs"])
    for run in value["runs"]:
        _health(console, run)
    console.print()
    for item in value["findings"]:
        finding = finding_from_json(item)
        print_finding(console, finding, finding.run or ", ".join(dict.fromkeys(mark.run for mark in finding.marks)))
    counts = Counter(item["severity"] for item in value["findings"])
    said = ", ".join(f"{counts[name]} {name}" for name in ("critical", "high", "medium", "low", "info") if counts[name])
    outcomes = Counter(item["status"] for item in value["outcomes"])
    console.print(
        f"[bold]{said or 'No finding'}[/]  {value['examined']:,} of {len(value['runs']):,} runs judged by {outcomes['ok']} checks"
        + (f", {outcomes['failed']} broke" if outcomes["failed"] else "")
    )
    if value["left_out"]:
        console.print(f"  [dim]{escape(value['left_out'])}[/]")
    for item in value["outcomes"]:
        if item["status"] == "failed":
            console.print(f"  [red]{escape(item['check_id'])}: {escape(item['reason'])}[/]")
    if csv is not None:
        console.print(f"Every point is in {escape(str(csv))}")


def _runs(console: Console, runs: list[Mapping[str, Any]]) -> None:
    table = Table(box=None, pad_edge=False)
    table.add_column("run and tags", overflow="fold")
    for name in ("points", "steps", "last", "best", "at"):
        table.add_column(name, justify="right")
    shown = total = 0
    for run in runs:
        if shown < _SHOWN_ROWS and run["tags"]:
            table.add_row(f"[bold]{escape(run['run'])}[/]")
        for tag in run["tags"]:
            total += 1
            if shown >= _SHOWN_ROWS:
                continue
            shown += 1
            best = "" if tag["best_value"] is None else _number(tag["best_value"])
            table.add_row(
                f"  {escape(tag['tag'])}",
                f"{tag['points']:,}",
                f"{tag['first_step']:,} … {tag['last_step']:,}",
                _number(tag["last_value"]),
                best,
                "" if tag["best_step"] is None else f"{tag['best_step']:,}",
            )
    console.print(table)
    if total > shown:
        console.print(f"… and {total - shown:,} more tags (--run and --tag choose, --json has all)")


def _health(console: Console, run: Mapping[str, Any]) -> None:
    health = run["health"]
    restarts = f"began anew {health['restarts']} times" if health["restarts"] else ""
    said = "; ".join(part for part in (health["problem"], restarts) if part)
    if said:
        console.print(f"[yellow]files[/]  {escape(run['run'])}: {escape(said)}")


def _number(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.5g}"
