"""What `stethoscope activations` prints for people."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from stethoscope.activations.study import LayerActivations

_SHOWN_LAYERS = 200
_SHOWN_UNREACHABLE = 10
_WIDE = 110
_PATH = 24
"""Characters of a path that are shown on a narrow terminal: its end, where paths differ."""


def layer_activations(answer: LayerActivations, out: Path | None) -> None:
    """Prints the answer of `activations`: one line a layer, what cannot be seen, where the files are."""
    console = Console(highlight=False)
    console.print(f"[bold]{len(answer.layers):,} outputs[/] over {escape(_rows(answer))}")
    wide = console.width >= _WIDE
    table = Table(box=None, pad_edge=False)
    for name in ("layer", "shape", "mean", "std", *(("min", "max") if wide else ()), "zero", "saturated", "dead units"):
        table.add_column(name, no_wrap=name != "dead units", min_width=_PATH if name == "layer" else None)
    for layer in answer.layers[:_SHOWN_LAYERS]:
        bad = f" [red]{layer.nonfinite:,} NaN or infinite[/]" if layer.nonfinite else ""
        numbers = (layer.mean, layer.std, layer.min, layer.max) if wide else (layer.mean, layer.std)
        table.add_row(
            escape(_end_of(layer.path, console.width)) + bad,
            "×".join("?" if size is None else f"{size:,}" for size in layer.shape) or "scalar",
            *map(_number, numbers),
            _share(layer.zero_fraction),
            _share(layer.saturated_fraction or 0.0),
            "" if layer.dead_units is None else f"{layer.dead_units:,} of {layer.units:,}",
        )
    console.print(table)
    if len(answer.layers) > _SHOWN_LAYERS:
        console.print(f"… and {len(answer.layers) - _SHOWN_LAYERS:,} more (--json has all)")
    for one in answer.unreachable[:_SHOWN_UNREACHABLE]:
        console.print(f"[yellow]not seen[/]  {escape(one.path)}: {escape(one.reason)}")
    if len(answer.unreachable) > _SHOWN_UNREACHABLE:
        console.print(f"… and {len(answer.unreachable) - _SHOWN_UNREACHABLE:,} more that cannot be seen")
    if out is not None:
        console.print(f"written to {escape(str(out.resolve()))}")


def _end_of(path: str, width: int) -> str:
    most = max(_PATH, width - 80)
    return path if len(path) <= most else f"…{path[1 - most :]}"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


def _share(value: float) -> str:
    return f"{100 * value:.1f} %"


def _rows(answer: LayerActivations) -> str:
    """Over which rows the statistics are, for people."""
    source = "random input" if answer.source == "dummy" else answer.source
    seen, total = answer.rows, answer.rows_in_data
    return f"{seen:,} rows of {source}" if seen >= total else f"{seen:,} of {total:,} rows of {source}"
