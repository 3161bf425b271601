"""What `stethoscope latency` prints for people."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from stethoscope.codec import partial_of
from stethoscope.compare.latency.row import Row
from stethoscope.sizes import human_bytes
from stethoscope.tasks.latency import Latencies
from stethoscope.types import JobResult, Status


def latencies(result: JobResult) -> None:
    """A table of the models, then one of the times for each batch size."""
    console = Console(highlight=False)
    if result.status is not Status.OK:
        console.print(f"[red]{result.status.value.replace('_', ' ')}[/]  {escape(result.reason)}")
    known = partial_of(result, Latencies) or Latencies()
    table = Table("model", "runtime", "size", "parameters", "loading", "memory added", box=None, pad_edge=False)
    for model in known.models:
        table.add_row(
            escape(model.name),
            escape(model.runtime),
            _size(model.size_bytes),
            "" if model.parameters is None else f"{model.parameters:,}",
            _ms(model.load_s),
            _size(model.peak_bytes),
        )
    if known.models:
        console.print(table)
        console.print()
    for size in sorted({row.batch_size for row in known.rows}):
        console.print(_times(size, [row for row in known.rows if row.batch_size == size]))
        console.print()
    if known.rows:
        console.print(_how(known))
    for model in known.models:
        if model.reason:
            console.print(f"[red]no time[/]  {escape(model.reason)}", soft_wrap=True)
    whole = {model.reason for model in known.models}
    for row in known.rows:
        if row.p50_s is None and row.reason not in whole:
            console.print(f"[red]no time[/]  {row.batch_size:,} a call: {escape(row.reason)}", soft_wrap=True)
    if any(row.p50_s and row.p99_s is None for row in known.rows):
        console.print(
            "[yellow]note[/]  p99 needs at least 100 calls, p90 10: give more --seconds where they are missing."
        )
    for note in known.notes:
        console.print(f"[yellow]note[/]  {escape(note)}", soft_wrap=True)


def _times(size: int, rows: Sequence[Row]) -> Table:
    titles = (f"{size:,} {'row' if size == 1 else 'rows'} a call", "p50", "p90", "p99", "first call", "rows/s", "speed")
    table = Table(*titles, box=None, pad_edge=False)
    base = next((row.p50_s for row in rows if row.role == "model" and row.p50_s), None)
    for row in rows:
        styled = row.call not in ("run", "function", "")
        name = escape(row.model + (f", {row.call}" if styled else ""))
        if row.p50_s is None:
            table.add_row(name, "—")
            continue
        table.add_row(
            name,
            _ms(row.p50_s),
            _ms(row.p90_s),
            _ms(row.p99_s),
            _ms(row.first_call_s),
            f"{row.rows_per_s or 0.0:,.0f}",
            f"{base / row.p50_s:,.3g}×" if base else "",
        )
    return table


def _how(known: Latencies) -> str:
    source = "random input" if known.source == "dummy" else known.source
    turns = "in turns" if known.together else "one model after the other"
    used = sorted({row.threads for row in known.rows})
    threads = f"{' or '.join(map(str, used))} {'thread' if used == [1] else 'threads'} on {known.cores} cores ({known.device})"
    return escape(
        f"On {source}, {known.seconds:g} s of calls for each number, {turns}; {threads}. Speed: against the first model."
    )


def _size(size_bytes: int | None) -> str:
    return "" if size_bytes is None else human_bytes(size_bytes)


def _ms(seconds: float | None) -> str:
    if seconds is None:
        return ""
    value, unit = (seconds * 1e6, "µs") if seconds < 1e-3 else (seconds * 1e3, "ms") if seconds < 1 else (seconds, "s")
    return f"{value:,.0f} {unit}" if value >= 100 else f"{value:.3g} {unit}"
