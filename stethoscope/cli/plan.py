"""`stethoscope plan`: from options and described models to plans, their code and their JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from stethoscope.architecture.description import Description
from stethoscope.architecture.model_shape import ModelShape, model_shape
from stethoscope.cli.run import describe
from stethoscope.codec import SCHEMA_VERSION, answer_of
from stethoscope.errors import BadSetting
from stethoscope.memory.planner.file_settings import for_model
from stethoscope.memory.planner.plan import Plan, Settings, plan, together
from stethoscope.memory.planner.presets import Device, device
from stethoscope.memory.planner.strategy_code import StrategyCode, strategy_codes
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
    return Settings(
        device(device_text),
        devices,
        training,
        optimizer,
        precision,
        batch_size,
        recompute,
        cached_tokens,
    )


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
        from stethoscope.cli.text_plan import plans

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
