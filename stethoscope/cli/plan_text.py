"""What `stethoscope plan` prints for people: what fits, how long a step takes, and the code of the first plan."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from stethoscope.memory.planner.remarks import milliseconds
from stethoscope.sizes import human_bytes

_WIDTH = 130
"""Of output that goes to a file or another program, which has no width of its own."""
_FITS = {"fits": "[green]yes[/]", "too_near": "[yellow]too near to say[/]", "does_not_fit": "[red]no[/]"}
_PARTS = ("weights", "gradients", "optimizer", "activations", "buffers", "total")


def plans(value: Mapping[str, Any]) -> None:
    """Prints the answer of `plan`; of a plan that was chosen its program only, which runs as it is printed."""
    if "chosen" in value:
        sys.stdout.write(value["code"])
        return
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=_WIDTH)
    shared = value.get("together")
    for one in value.get("models", [value]):
        _model(console, one)
        if not shared:
            _first_program(console, one)
    if shared:
        _shared(console, value)
    if value.get("run"):
        _together(console, value["run"])


def _shared(console: Console, value: Mapping[str, Any]) -> None:
    """Whether the models fit beside each other, and a program for each."""
    shared = value["together"]
    verdict = "[green]fit together[/]" if shared["fits"] else "[red]do not fit together[/]"
    left = shared["left_bytes"]
    rest = f"{human_bytes(left)} left" if left >= 0 else f"{human_bytes(-left)} too much"
    console.print(f"\n{verdict} on one device, headroom included: {human_bytes(shared['total_bytes'])}, {rest}")
    for name, size in shared["shares_bytes"].items():
        console.print(f"  {escape(name)}  {human_bytes(size)}")
    for note in value["sharing_notes"]:
        console.print(f"[yellow]note[/]  {escape(note)}", soft_wrap=True)
    for program in value["programs"]:
        limit = human_bytes(program["limit_bytes"])
        console.print(f"\n[bold]{escape(program['model'])}[/]: a process of its own, at most {limit} of the card")
        console.print(escape(program["note"]), soft_wrap=True)
        console.print(f"\n{escape(program['code'])}", soft_wrap=True)
    if len(value["sharing"]) > 1:
        console.print("--plan processes and --plan logical-devices print one program that runs them all.")


def _together(console: Console, run: Mapping[str, Any]) -> None:
    """What came of running the models at once."""
    columns = ("run together", "batch", "predicted", "alone", "share", "peak", "calls", "outputs as alone", "")
    table = Table(*columns, box=None, pad_edge=False)
    for one in run["runs"]:
        sizes = [one[name] for name in ("predicted_bytes", "alone_bytes", "share_bytes", "peak_bytes")]
        same = one["same_as_alone"]
        table.add_row(
            escape(one["name"]),
            f"{one['asked_batch_size'] or one['batch_size']:,}",
            *("" if size is None else human_bytes(size) for size in sizes),
            f"{one['calls']:,}",
            "" if same is None else "yes" if same else "no",
            escape(one["status"].replace("_", " ")),
        )
    console.print(table)
    if run["split"]:
        console.print(escape(run["split"]["sentence"]), soft_wrap=True)
    console.print(escape(run["sentence"]), soft_wrap=True)


def _model(console: Console, one: Mapping[str, Any]) -> None:
    used = one["settings"]
    device = used["device"]
    how = f"{used['mode']}, {used['precision']}, batch {used['batch_size']:,}"
    optimizer = f", {escape(used['optimizer'])}" if used["optimizer"] else ""
    console.print(
        f"[bold]{escape(one['model'])}[/]  {how}{optimizer}\n"
        f"{used['devices']} × {escape(device['title'])}, {human_bytes(device['usable_bytes'])} usable each"
    )
    table = Table("plan", "devices", "fits", *_PARTS, "step", box=None, pad_edge=False)
    table.columns[0].no_wrap = True
    arithmetic = []
    for item in one["plans"]:
        step = milliseconds(item["time_per_step_s"])
        if not item["available"]:
            total = human_bytes(item["bytes_per_device"]["total"])
            arithmetic.append(f"{item['kind']} {total}{'' if item['fits'] else ' (too much)'}, {step}")
            continue
        sizes = [human_bytes(item["bytes_per_device"][part]) for part in _PARTS]
        table.add_row(item["kind"], str(item["devices"]), _FITS[item["verdict"]], *sizes, step)
    console.print(table)
    console.print("bytes on the fullest device", style="dim")
    first = one["plans"][0]
    console.print(
        f"reckoned, not run: {escape(first['kind'])} may need {human_bytes(first['margin_bytes'])} more; "
        f"`stethoscope sweep{' --train' if used['mode'] == 'training' else ''}` measures it",
        style="dim",
        soft_wrap=True,
    )
    if arithmetic:
        console.print(
            f"not in TensorFlow or Keras, arithmetic to compare with: {'; '.join(arithmetic)}",
            style="dim",
            soft_wrap=True,
        )
    console.print(one["time_assumptions"], style="dim", soft_wrap=True)
    for note in first["notes"]:
        console.print(f"[yellow]note[/]  {escape(note)}", soft_wrap=True)
    for sentence in (one["tpu"] or {}).get("sentences", ()):
        console.print(f"[yellow]TPU[/]  {escape(sentence)}", soft_wrap=True)


def _first_program(console: Console, one: Mapping[str, Any]) -> None:
    first = one["plans"][0]
    if not first["strategies"]:
        return
    strategy = first["strategies"][0]
    console.print(
        f"\n[bold]{escape(first['kind'])}[/]: {escape(strategy['title'])}, runs on {escape(strategy['runs_on'])}"
    )
    if strategy["note"]:
        console.print(escape(strategy["note"]), soft_wrap=True)
    console.print(f"\n{escape(strategy['code'])}", soft_wrap=True)
    others = [item["kind"] for item in one["plans"][1:] if item["strategies"]]
    if others:
        console.print(f"Programs of the other plans: --plan {', --plan '.join(others)}")
