"""What `stethoscope compare` prints of weights without a graph: what differs most first, then what only one side has."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from stethoscope.cli.described_text import shape
from stethoscope.models.weights.fitting import sizes
from stethoscope.tasks.compare_weights import WeightsDifference

_SHOWN = 60
_VERDICTS = {
    "equal": "[green]equal[/]",
    "within_tolerance": "[yellow]equal up to rounding[/]",
    "different": "[red]different[/]",
}


def difference(first: str, second: str, found: WeightsDifference) -> None:
    """Prints how far two sets of weights are apart, array by array."""
    console = Console(highlight=False)
    console.print(f"{escape(first)} and {escape(second)}: {_VERDICTS[found.verdict]}")
    if found.note:
        console.print(escape(found.note))
    apart = sorted(
        (one for one in found.weights if one.changed or one.unreadable),
        key=lambda one: (not one.is_weight, -one.relative),
    )
    same = len(found.weights) - len(apart)
    if apart:
        table = Table(box=None, pad_edge=False)
        table.add_column("array", overflow="fold")
        for name in ("shape", "relative", "largest", "changed", "NaN, ∞"):
            table.add_column(name, no_wrap=True)
        for one in apart[:_SHOWN]:
            if one.unreadable:
                table.add_row(escape(one.name), shape(one.shape), "not compared")
                continue
            total = 1
            for size in one.shape:
                total *= size
            bad = f"[red]{one.nonfinite_a:,} and {one.nonfinite_b:,}[/]" if one.nonfinite_a or one.nonfinite_b else "0"
            table.add_row(
                escape(one.name),
                shape(one.shape),
                f"{one.relative:.2g}",
                f"{one.max_abs_diff:.3g}",
                f"{one.changed:,} of {total:,}",
                bad,
            )
        console.print(table)
        if len(apart) > _SHOWN:
            console.print(f"… and {len(apart) - _SHOWN:,} more (--json has all)")
    for why in dict.fromkeys(one.unreadable for one in apart if one.unreadable):
        console.print(f"[yellow]not compared[/]  {escape(why)}")
    if same:
        console.print(f"{same:,} {'array is' if same == 1 else 'arrays are'} the same to the bit")
    for misfit in found.misfits:
        place = f"{misfit.layer}: {misfit.weight}" if misfit.layer else misfit.weight
        console.print(
            f"  {escape(place)} is {_size(misfit.in_model)} here, {_size(misfit.in_weights)} there", soft_wrap=True
        )
    for name, only in ((first, found.only_a), (second, found.only_b)):
        if only:
            shown = ", ".join(only[:10]) + (f" and {len(only) - 10:,} more" if len(only) > 10 else "")
            console.print(f"only in {escape(name)}: {escape(shown)}", soft_wrap=True)


def _size(one: tuple[int, ...] | None) -> str:
    return "not" if one is None else sizes(one)
