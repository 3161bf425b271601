"""`stethoscope plan`: from options and described models to plans, their code and their JSON; `--run` really runs the models at once on one card."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer

from stethoscope.architecture.model_shape import model_shape
from stethoscope.cli import plan_text
from stethoscope.cli import run as cli_run
from stethoscope.cli.planned import Planned, sharing
from stethoscope.cli.printed import print_json
from stethoscope.cli.run import describe
from stethoscope.codec import SCHEMA_VERSION, answer_of
from stethoscope.devices import this_machine
from stethoscope.errors import BadSetting, CannotRun, StethoscopeError
from stethoscope.memory.lowering_report import TogetherReport
from stethoscope.memory.planner.plan import Plan, Settings, for_model, plan, workload
from stethoscope.memory.planner.presets import Device, device, gpu_usable_bytes, named
from stethoscope.memory.planner.step_time import assumptions
from stethoscope.memory.planner.strategy_code import StrategyCode
from stethoscope.memory.planner.tpu_limits import tpu_limits
from stethoscope.memory.run_settings import RunSettings
from stethoscope.models.formats import format_of
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
    target = card_here(device_text) if device_text.lower().startswith("gpu") else device(device_text)
    return Settings(target, devices, training, optimizer, precision, batch_size, recompute, cached_tokens)


def card_here(text: str) -> Device:
    """A card of this machine: "gpu", or "gpu:1" for the second.

    Raises:
        BadSetting: it is not there.
    """
    machine = this_machine()
    _, _, number = text.partition(":")
    index = int(number) if number.isdigit() else 0
    card = next((card for card in machine.gpus if card.index == index), None)
    if card is None:
        raise BadSetting(
            f"--device {text!r}: there is no GPU {index} here. {machine.gpus_reason} Give the memory of the one that is meant "
            "(16GB), or its name (t4, a100-80)."
        )
    major = card.compute_capability.partition(".")[0]
    usable = gpu_usable_bytes(card.total_bytes, int(major) if major.isdigit() else 8)
    return named(card.name) or Device("own", card.name, "NVIDIA", card.total_bytes, usable, "the driver")


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
    models: Sequence[Path], asked: Settings, sequence_length: int | None, size: tuple[int, int] | None, kind: str = ""
) -> dict[str, Any] | JobResult:
    """Describes the models and plans each; returns the JSON, or the result of the description that failed.

    With several models on one device the plans are those of the first, "together" says whether all fit on one device, and
    "programs" has one for each model, which takes its share of the card and no more.

    Args:
        models: their files.
        asked: devices, optimizer, precision, batch.
        sequence_length: for models that leave it open.
        size: (height, width) of images, likewise.
        kind: the plan, or way of sharing, whose program is "code"; the first that has one if "".

    Raises:
        StethoscopeError: a file that is not there, or a setting that makes no sense.
    """
    found: list[dict[str, Any]] = []
    planned: list[Planned] = []
    for path in models:
        result, _ = describe(path)
        if result.status is not Status.OK:
            return result
        architecture = answer_of(result, Description).architecture
        if format_of(architecture).only_weights:
            raise CannotRun(f"{path.name}: {architecture.runnable}")
        own = for_model(architecture, asked)
        shape = model_shape(architecture, sequence_length, size)
        as_compiled = architecture.compile is not None and asked.optimizer == "auto"
        planned.append(Planned(path.name, architecture, shape, own, plan(shape, own), as_compiled))
        found.append(to_json(planned[-1]))
    answer: dict[str, Any] = {"schema_version": SCHEMA_VERSION, **found[0]}
    if len(found) == 1:
        if kind:
            answer |= chosen_plan(found[0]["plans"], kind)
        return answer
    shared = sharing(planned, distinct([path.name for path in models]))
    return answer | {"models": found} | shared.to_json(kind)


def write(value: Mapping[str, Any], as_json: bool) -> None:
    """Prints the answer of `run` as one JSON object, or for people; of a chosen plan its program and nothing else."""
    if as_json:
        print_json(value)
    else:
        plan_text.plans(value)


def distinct(names: Sequence[str]) -> list[str]:
    """The names, with a number where one occurs more than once."""
    return [name if names.count(name) == 1 else f"{name} ({number + 1})" for number, name in enumerate(names)]


def to_json(planned: Planned) -> dict[str, Any]:
    """One model's plans: the keys of the contract and more."""
    used, shape, plans = planned.settings, planned.shape, planned.plans
    codes = [planned.programs(item) for item in plans]
    tpu = tpu_limits(planned.architecture) if used.device.is_tpu else None
    return {
        "model": planned.name,
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
        "time_assumptions": assumptions(workload(shape, used), used.device),
        "tpu": None if tpu is None else {**asdict(tpu), "sentences": list(tpu.sentences())},
        "code": codes[0][0].code if plans and codes[0] else "",
        "notes": list(shape.assumptions),
    }


def chosen_plan(plans: Sequence[Mapping[str, Any]], kind: str) -> dict[str, Any]:
    """{"chosen", "code"} of the plan of that kind.

    Raises:
        BadSetting: there is none, or TensorFlow and Keras cannot run it.
    """
    having = [item["kind"] for item in plans if item["strategies"]]
    found = next((item for item in plans if item["kind"] == kind), None)
    if found is None or not found["strategies"]:
        why = "there is no such plan" if found is None else "TensorFlow and Keras have no program for it"
        raise BadSetting(f"--plan {kind!r}: {why}. Choose one of {', '.join(having)}.")
    return {"chosen": kind, "code": found["strategies"][0]["code"]}


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
        "time_per_step_s": item.time.total_s,
        "time": asdict(item.time),
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


def ending(report: TogetherReport) -> dict[str, str]:
    """How the run ended, as every JSON answer says it, where memory ran out for a model that was to stay within its share."""
    short = next((run for run in report.runs if run.status == Status.OUT_OF_MEMORY.value and not run.exceeds), None)
    return {} if short is None else {"status": short.status, "phase": short.phase, "reason": short.reason}


def exit_for(report: TogetherReport) -> None:
    """Ends with 1 where a model did not finish in its share though it was to, with 2 where they could not be run."""
    if report.verdict in ("not run", "cancelled", ""):
        sys.stderr.write(f"{report.sentence}\n")
        raise typer.Exit(StethoscopeError.exit_code)
    if report.verdict == "disturbed" or any(run.status == "out_of_memory" and not run.exceeds for run in report.runs):
        raise typer.Exit(DO_NOT_FIT)


def _line(report: TogetherReport) -> str:
    return " · ".join(f"{run.name}: {run.phase or run.state}" for run in report.runs if run.state != "waiting")
