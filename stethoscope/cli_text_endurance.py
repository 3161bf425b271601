"""What `stethoscope endurance` prints for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from stethoscope.sizes import human_bytes

_COLOURS = {"leak": "red", "retraced": "yellow", "recompiled": "yellow", "unsure": "yellow"}


def endurance(value: Mapping[str, Any]) -> None:
    """Prints what each call style's tests found."""
    console = Console(highlight=False)
    for call in value["calls"]:
        console.print(f"[bold]{escape(str(call['call']))}[/]")
        if call["status"] != "ok":
            console.print(f"  [red]{call['status'].replace('_', ' ')}[/]  {escape(call['reason'])}", soft_wrap=True)
        for test in ("leak", "retracing"):
            found = call.get(test)
            if found:
                colour = _COLOURS.get(found["verdict"], "green")
                console.print(f"  {test}: [{colour}]{found['verdict']}[/]  {escape(found['message'])}", soft_wrap=True)
        retraced = call.get("retracing") or {}
        if retraced.get("verdict") == "retraced" and retraced.get("signature"):
            for line in retraced["signature"].strip().splitlines():
                console.print(f"    {escape(line)}", soft_wrap=True)
        latency = call.get("latency")
        if latency and latency["cold_s"] is not None:
            console.print(
                f"  latency: loading {_time(latency['load_s'])}, first call {_time(latency['cold_s'])}, later "
                f"{_time(latency['warm_row']['median_s'])} for one row and {_time(latency['warm']['median_s'])} a batch"
            )


def lowering(value: Mapping[str, Any]) -> None:
    """Prints what was tried, by rank, and the advice."""
    console = Console(highlight=False)
    table = Table("change", "peak", "saved", "ms a sample", "outputs differ by", "")
    for trial in (value["present"], *value["trials"]):
        saved, time_s, gap = trial["saved_fraction"], trial["time_per_sample_s"], trial["max_abs_diff"]
        table.add_row(
            escape(trial["title"]),
            "" if trial["peak_bytes"] is None else human_bytes(trial["peak_bytes"]),
            "" if saved is None or trial["id"] == "present" else f"{saved:+.0%}",
            "" if time_s is None else f"{1000 * time_s:.3g}",
            "" if gap is None or trial["id"] == "present" else f"{gap:.2g}",
            "" if trial["status"] == "ok" else escape(f"{str(trial['status']).replace('_', ' ')}: {trial['reason']}"),
        )
    console.print(table)
    for item in value["untried"]:
        console.print(f"{item['kind']}: not tried. {escape(item['reason'])}", soft_wrap=True)
    console.print(escape(value["message"]), soft_wrap=True)


def _time(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{1000 * seconds:.3g} ms"
