"""What `stethoscope latency` prints for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from stethoscope.sizes import human_bytes


def latencies(value: Mapping[str, Any]) -> None:
    """A table of the models, then one of the times for each batch size."""
    console = Console(highlight=False)
    if value["status"] != "ok":
        console.print(f"[red]{value['status'].replace('_', ' ')}[/]  {escape(value['reason'])}")
    models = Table("model", "runtime", "size", "parameters", "loading", "memory added", box=None, pad_edge=False)
    for one in value["models"]:
        models.add_row(
            escape(one["name"]),
            escape(one["runtime"]),
            _size(one["size_bytes"]),
            "" if one["parameters"] is None else f"{one['parameters']:,}",
            _ms(one["load_s"]),
            _size(one["peak_bytes"]),
        )
    if value["models"]:
        console.print(models)
        console.print()
    for size in sorted({int(row["batch_size"]) for row in value["rows"]}):
        console.print(_times(size, [row for row in value["rows"] if row["batch_size"] == size]))
        console.print()
    if value["rows"]:
        console.print(_how(value))
    for one in value["models"]:
        if one["reason"]:
            console.print(f"[red]no time[/]  {escape(one['reason'])}", soft_wrap=True)
    whole = {one["reason"] for one in value["models"]}
    for row in value["rows"]:
        if row["p50_s"] is None and row["reason"] not in whole:
            console.print(f"[red]no time[/]  {row['batch_size']:,} a call: {escape(row['reason'])}", soft_wrap=True)
    if any(row["p50_s"] and row["p99_s"] is None for row in value["rows"]):
        console.print(
            "[yellow]note[/]  p99 needs at least 100 calls, p90 10: give more --seconds where they are missing."
        )
    for note in value["notes"]:
        console.print(f"[yellow]note[/]  {escape(note)}", soft_wrap=True)


def _times(size: int, rows: Sequence[Mapping[str, Any]]) -> Table:
    titles = (f"{size:,} {'row' if size == 1 else 'rows'} a call", "p50", "p90", "p99", "first call", "rows/s", "speed")
    table = Table(*titles, box=None, pad_edge=False)
    base = next((row["p50_s"] for row in rows if row["role"] == "model" and row["p50_s"]), None)
    for row in rows:
        found = row["p50_s"]
        styled = row["call"] not in ("run", "function", "")
        name = escape(row["model"] + (f", {row['call']}" if styled else ""))
        if found is None:
            table.add_row(name, "—")
            continue
        table.add_row(
            name,
            _ms(found),
            _ms(row["p90_s"]),
            _ms(row["p99_s"]),
            _ms(row["first_call_s"]),
            f"{row['rows_per_s']:,.0f}",
            f"{base / found:,.3g}×" if base else "",
        )
    return table


def _how(value: Mapping[str, Any]) -> str:
    source = "random input" if value["source"] == "dummy" else value["source"]
    turns = "in turns" if value["together"] else "one model after the other"
    used = sorted({int(row["threads"]) for row in value["rows"]})
    threads = f"{' or '.join(map(str, used))} {'thread' if used == [1] else 'threads'} on {value['cores']} cores ({value['device']})"
    return escape(
        f"On {source}, {value['seconds']:g} s of calls for each number, {turns}; {threads}. Speed: against the first model."
    )


def _size(size_bytes: int | None) -> str:
    return "" if size_bytes is None else human_bytes(size_bytes)


def _ms(seconds: float | None) -> str:
    if seconds is None:
        return ""
    value, unit = (seconds * 1e6, "µs") if seconds < 1e-3 else (seconds * 1e3, "ms") if seconds < 1 else (seconds, "s")
    return f"{value:,.0f} {unit}" if value >= 100 else f"{value:.3g} {unit}"
