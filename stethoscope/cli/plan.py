"""`stethoscope plan`: from options and described models to plans, their code and their JSON; `--run` really runs the models at once on one card.

What `stethoscope plan` prints for people: what fits, broken down, and the code of the cheapest plan.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from stethoscope.architecture.model_shape import ModelShape, model_shape
from stethoscope.cli import run as cli_run
from stethoscope.cli.run import describe
from stethoscope.codec import SCHEMA_VERSION, answer_of
from stethoscope.errors import BadSetting, StethoscopeError
from stethoscope.memory.lowering_report import TogetherReport
from stethoscope.memory.planner.plan import Plan, Settings, for_model, plan, together
from stethoscope.memory.planner.presets import Device, device
from stethoscope.memory.planner.strategy_code import StrategyCode, strategy_codes
from stethoscope.memory.run_settings import RunSettings
from stethoscope.sizes import human_bytes
from stethoscope.studies.together import Tenant, Together, TogetherRequest
from stethoscope.tasks.describe import Description
from stethoscope.types import JobResult, Status


def settings(
    device_text: str,
    devices: int,
    training: bool,
    optimizer: str,
    precision: str,
    batch_size: int,
    cached_tokens: int,
    *,
    recompute: bool,
) -> Settings:
    """The settings behind the options; "auto" stays for what each model decides.

    Raises:
        BadSetting: one of them makes no sense.
    """
    return Settings(device(device_text), devices, training, optimizer, precision, batch_size, recompute, cached_tokens)


def image_size(text: str) -> tuple[int, int] | None:
    """Reads "224" or "480x640" (height × width); None for an empty text.

    Raises:
        BadSetting: neither.
    """
    if not text:
        return None
    parts = text.lower().replace("×", "x").split("x")
    if len(parts) > 2 or not all(part.strip().isdigit() for part in parts):
        raise BadSetting(f"--image-size {text!r}: expected 224 or 480x640. Correct it.")
    return int(parts[0]), int(parts[-1])


def run(
    models: Sequence[Path], asked: Settings, sequence_length: int | None, size: tuple[int, int] | None
) -> dict[str, Any] | JobResult:
    """Describes the models and plans each; returns the JSON, or the result of the description that failed.

    With several models on one device the plans are those of the first, and "together" says whether all fit on one device.

    Raises:
        StethoscopeError: a file that is not there, or a setting that makes no sense.
    """
    found: list[dict[str, Any]] = []
    for path in models:
        result = describe(path)
        if result.status is not Status.OK:
            return result
        architecture = answer_of(result, Description).architecture
        own = for_model(architecture, asked)
        shape = model_shape(architecture, sequence_length, size)
        loss = architecture.compile.loss if architecture.compile is not None else ""
        found.append(to_json(path.name, shape, own, plan(shape, own), loss if isinstance(loss, str) else ""))
    answer: dict[str, Any] = {"schema_version": SCHEMA_VERSION, **found[0]}
    if len(found) > 1:
        names = distinct([path.name for path in models])
        needs = {
            name: next(item for item in one["plans"] if item["devices"] == 1)["bytes_per_device"]["total"]
            for name, one in zip(names, found, strict=True)
        }
        answer["models"] = found
        answer["together"] = asdict(together(needs, asked.device))
    return answer


def write(value: Mapping[str, Any], as_json: bool) -> None:
    """Prints the answer of `run` as one JSON object, or for people."""
    if as_json:
        sys.stdout.write(json.dumps(value, allow_nan=False) + "\n")
    else:
        plans(value)


def distinct(names: Sequence[str]) -> list[str]:
    """The names, with a number where one occurs more than once."""
    return [name if names.count(name) == 1 else f"{name} ({number + 1})" for number, name in enumerate(names)]


def to_json(name: str, shape: ModelShape, used: Settings, plans: Sequence[Plan], loss: str = "") -> dict[str, Any]:
    """One model's plans: the keys of the contract and more."""
    codes = [strategy_codes(item, used, shape, name, loss) for item in plans]
    return {
        "model": name,
        "settings": {
            "device": device_to_json(used.device),
            "devices": used.devices,
            "mode": "training" if used.training else "inference",
            "optimizer": (used.optimizer if isinstance(used.optimizer, str) else used.optimizer.title)
            if used.training
            else None,
            "precision": used.precision if isinstance(used.precision, str) else used.precision.id,
            "batch_size": used.batch_size,
            "zero": "auto",
            "sequence_length": shape.sequence_length,
        },
        "parameters": {"total": shape.parameters, "trainable": shape.trainable_parameters},
        "transformer": asdict(shape.transformer) if shape.transformer else None,
        "plans": [
            {**plan_to_json(item), "strategies": [code_to_json(code) for code in of_plan]}
            for item, of_plan in zip(plans, codes, strict=True)
        ],
        "code": codes[0][0].code if plans and codes[0] else "",
        "notes": list(shape.assumptions),
    }


def plan_to_json(item: Plan) -> dict[str, Any]:
    """A plan as {"kind", "devices", "fits", "bytes_per_device", …}; bytes are those of the fullest device."""
    size = item.bytes_per_device
    return {
        "kind": item.kind,
        "devices": item.devices,
        "fits": item.fits,
        "verdict": item.verdict,
        "margin_bytes": item.margin_bytes,
        "available": item.available,
        "bytes_per_device": {**asdict(size), "total": size.total},
        "headroom_bytes": item.headroom_bytes,
        "relative_cost": round(item.cost.relative, 4),
        "cost": {key: round(value, 4) for key, value in asdict(item.cost).items()},
        "cost_explained": item.cost.explained(),
        "layout": {**asdict(item.layout), "sequence_parallel": False},
        "notes": list(item.notes),
    }


def code_to_json(code: StrategyCode) -> dict[str, Any]:
    """A program as JSON."""
    return {**asdict(code), "implemented": True}


def device_to_json(found: Device) -> dict[str, Any]:
    """A device as JSON."""
    return asdict(found)


_FITS = {"fits": "[green]yes[/]", "too_near": "[yellow]too near to say[/]", "does_not_fit": "[red]no[/]"}
_WIDTH = 130
"""Of output that goes to a file or another program, which has no width of its own."""
_PARTS = ("weights", "gradients", "optimizer", "activations", "buffers", "total")


def plans(value: Mapping[str, Any]) -> None:
    """Prints the answer of `plan`."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=_WIDTH)
    for one in value.get("models", [value]):
        _model(console, one)
    shared = value.get("together")
    if shared:
        verdict = "[green]fit together[/]" if shared["fits"] else "[red]do not fit together[/]"
        left = shared["left_bytes"]
        rest = f"{human_bytes(left)} left" if left >= 0 else f"{human_bytes(-left)} too much"
        console.print(f"{verdict} on one device, headroom included: {human_bytes(shared['total_bytes'])}, {rest}")
        for name, size in shared["shares_bytes"].items():
            console.print(f"  {escape(name)}  {human_bytes(size)}")
    if value.get("run"):
        _together(console, value["run"])


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
    table = Table("plan", "devices", "fits", *_PARTS, "cost", box=None, pad_edge=False)
    table.columns[0].no_wrap = True
    for item in one["plans"]:
        sizes = [human_bytes(item["bytes_per_device"][part]) for part in _PARTS]
        fits = _FITS[item["verdict"]]
        if not item["available"]:
            fits += " [dim](not in TensorFlow)[/]"
        table.add_row(item["kind"], str(item["devices"]), fits, *sizes, f"{item['relative_cost']:.2f}")
    console.print(table)
    console.print("bytes on the fullest device; cost is device time over that of computing alone", style="dim")
    first = one["plans"][0]
    console.print(
        f"reckoned, not run: {escape(first['kind'])} may need {human_bytes(first['margin_bytes'])} more; "
        f"`stethoscope sweep{' --train' if used['mode'] == 'training' else ''}` measures it",
        style="dim",
        soft_wrap=True,
    )
    for note in first["notes"]:
        console.print(f"[yellow]note[/]  {escape(note)}", soft_wrap=True)
    if not first["strategies"]:
        return
    strategy = first["strategies"][0]
    console.print(
        f"\n[bold]{escape(first['kind'])}[/]: {escape(strategy['title'])}, runs on {escape(strategy['runs_on'])}"
    )
    if strategy["note"]:
        console.print(escape(strategy["note"]), soft_wrap=True)
    console.print(f"\n{escape(strategy['code'])}", soft_wrap=True)


DO_NOT_FIT = 1
"""Exit code when a model that was to stay within its share did not finish, or not as it does alone."""


def run_together(
    models: Sequence[Path],
    card_bytes: int,
    batch_size: int,
    *,
    exceed: str = "",
    seconds: float = 3.0,
    trusted: bool = False,
    timeout_s: float = 300.0,
) -> TogetherReport:
    """Predicts with all models at once in contained processes; Ctrl-C ends with what was found until then.

    Args:
        models: their files.
        card_bytes: memory of the card; on a machine without it, the memory their processes may have altogether.
        batch_size: rows in each call.
        exceed: the model to be given more work than its share holds, by its file's name; "" for none.
        seconds: for which they run beside each other.
        trusted: whether code in the files may run.
        timeout_s: for each job.

    Raises:
        BadSetting: no such model to exceed its share.
        UnreadableFile: a file is not there.
    """
    names = distinct([path.name for path in models])
    if exceed and exceed not in names:
        raise BadSetting(f"--exceed {exceed!r}: expected one of {', '.join(names)}. Correct it.")
    tenants = []
    for name, path in zip(names, models, strict=True):
        files = cli_run.input_files(path, None)
        settings = RunSettings(batch_size=batch_size)
        beside = cli_run.beside_files(files)
        tenants.append(Tenant(name, files["model"], settings, None, beside, trusted))
    request = TogetherRequest(tenants, card_bytes, exceed=exceed, seconds=seconds, timeout_s=timeout_s)
    with (
        cli_run.short_engine(len(tenants)) as engine,
        cli_run.interruptible() as stopped,
        cli_run.progress_line() as say,
    ):
        return Together(engine, request, lambda report: say(_line(report)), stopped).run()


def exit_for(report: TogetherReport) -> None:
    """Ends with 1 where a model did not finish in its share though it was to, with 2 where they could not be run."""
    if report.verdict in ("not run", "cancelled", ""):
        sys.stderr.write(f"{report.sentence}\n")
        raise typer.Exit(StethoscopeError.exit_code)
    if report.verdict == "disturbed" or any(run.status == "out_of_memory" and not run.exceeds for run in report.runs):
        raise typer.Exit(DO_NOT_FIT)


def _line(report: TogetherReport) -> str:
    return " · ".join(f"{run.name}: {run.phase or run.state}" for run in report.runs if run.state != "waiting")
