"""What `convert` prints for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.markup import escape

from stethoscope.sizes import human_bytes


def conversion(value: Mapping[str, Any]) -> None:
    """Where the file is, that it runs, how far it is off, what it gained; or what stood in the way."""
    console = Console(highlight=False)
    if value["status"] != "ok":
        console.print(f"[red]not converted[/]  {escape(value['reason'])}")
        for one in value["unsupported"]:
            where = f" in {escape(one['layer'])}" if one["layer"] else ""
            console.print(f"  {escape(one['operator'])}{where}  {escape(one.get('way_round') or '')}")
        return
    console.print(f"[bold]{escape(value['title'])}[/]  {escape(value['path'])}")
    before, after = value["source_size_bytes"], value["size_bytes"]
    console.print(f"size    {human_bytes(before)} → {human_bytes(after)}")
    times = value["time_s"]
    console.print(f"time    {1e3 * times['before']:.3g} ms → {1e3 * times['after']:.3g} ms for {value['rows']} row(s)")
    far = "values that are no numbers" if value["max_abs_diff"] is None else f"at most {value['max_abs_diff']:.2g}"
    agreed = "" if value["top1_agreement"] is None else f", same class in {value['top1_agreement']:.1%} of rows"
    console.print(f"off by  {far}{agreed} (input: {escape(value['source'])})")
    for note in value["notes"]:
        console.print(f"[yellow]note[/]    {escape(note)}")
