"""What `stethoscope sweep` prints for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from stethoscope.sizes import human_bytes


def sweep(value: Mapping[str, Any]) -> None:
    """Prints a row for each point, then for each call style the knee and the largest batch."""
    console = Console(highlight=False)
    if value["points"]:
        table = Table("call", "batch", "size", "predicted", "measured", "off by", "ms a sample", "")
        for point in value["points"]:
            table.add_row(*_row(point))
        console.print(table)
    for call in value["calls"]:
        name = escape(str(call["call"]))
        if call["status"] != "ok":
            console.print(
                f"{name}: [red]{call['status'].replace('_', ' ')}[/]  {escape(call['reason'])}", soft_wrap=True
            )
        knee = (call.get("knee") or {}).get("batch_size")
        if knee:
            console.print(f"{name}: larger batches than {knee:,} save little time")
        for found in call.get("largest_batches", []):
            at = "" if found["size"] is None else f" at size {found['size']:,}"
            budget = human_bytes(found["budget_bytes"])
            console.print(f"{name}: largest batch within {budget}{at}: {found['low']:,} to {found['high']:,}")
        for point in call.get("checks", []):
            console.print(f"{name}: checked batch {point['batch_size']:,}: {point['status'].replace('_', ' ')}")
    if value.get("advice"):
        from stethoscope.cli_text_endurance import lowering

        lowering(value["advice"])


def _row(point: Mapping[str, Any]) -> tuple[str, ...]:
    off, time_s = point["error_fraction"], point["time_per_sample_s"]
    return (
        escape(str(point["call"])),
        f"{point['batch_size']:,}",
        "" if point["size"] is None else f"{point['size']:,}",
        _size(point["predicted_peak_bytes"]),
        _size(point["measured_peak_bytes"]),
        "" if off is None or point["calibration"] else f"{off:+.1%}",
        "" if time_s is None else f"{1000 * time_s:.3g}",
        "" if point["status"] == "ok" else escape(point["reason"]),
    )


def _size(size_bytes: int | None) -> str:
    return "" if size_bytes is None else human_bytes(size_bytes)
