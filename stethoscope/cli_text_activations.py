"""What `stethoscope activations` prints for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

_SHOWN_LAYERS = 200
_SHOWN_UNREACHABLE = 10
_WIDE = 110
_PATH = 24
"""Characters of a path that are shown on a narrow terminal: its end, where paths differ."""


def layer_activations(value: Mapping[str, Any]) -> None:
    """Prints the answer of `activations`: one line a layer, what cannot be seen, where the files are."""
    console = Console(highlight=False)
    if value["status"] != "ok":
        return
    console.print(f"[bold]{len(value['layers']):,} outputs[/] over {escape(_rows(value))}")
    numbers = ("mean", "std", "min", "max") if console.width >= _WIDE else ("mean", "std")
    table = Table(box=None, pad_edge=False)
    for name in ("layer", "shape", *numbers, "zero", "saturated", "dead units"):
        table.add_column(name, no_wrap=name != "dead units", min_width=_PATH if name == "layer" else None)
    for layer in value["layers"][:_SHOWN_LAYERS]:
        bad = f" [red]{layer['nonfinite']:,} NaN or infinite[/]" if layer["nonfinite"] else ""
        dead = layer["dead_units"]
        table.add_row(
            escape(_end_of(layer["path"], console.width)) + bad,
            "×".join("?" if size is None else f"{size:,}" for size in layer["shape"]) or "scalar",
            *(_number(layer[key]) for key in numbers),
            _share(layer["zero_fraction"]),
            _share(layer["saturated_fraction"]),
            "" if dead is None else f"{dead:,} of {layer['units']:,}",
        )
    console.print(table)
    if len(value["layers"]) > _SHOWN_LAYERS:
        console.print(f"… and {len(value['layers']) - _SHOWN_LAYERS:,} more (--json has all)")
    for one in value["unreachable"][:_SHOWN_UNREACHABLE]:
        console.print(f"[yellow]not seen[/]  {escape(one['path'])}: {escape(one['reason'])}")
    if len(value["unreachable"]) > _SHOWN_UNREACHABLE:
        console.print(f"… and {len(value['unreachable']) - _SHOWN_UNREACHABLE:,} more that cannot be seen")
    if value.get("out"):
        console.print(f"written to {escape(str(value['out']))}")


def _end_of(path: str, width: int) -> str:
    most = max(_PATH, width - 80)
    return path if len(path) <= most else f"…{path[1 - most :]}"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


def _share(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f} %"


def _rows(value: Mapping[str, Any]) -> str:
    """Over which rows the statistics are, for people."""
    source = "random input" if value.get("source") == "dummy" else str(value.get("source"))
    seen, total = int(value.get("rows") or 0), int(value.get("rows_in_data") or 0)
    return f"{seen:,} rows of {source}" if seen >= total else f"{seen:,} of {total:,} rows of {source}"
