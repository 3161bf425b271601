"""From the options that say how a model is run to `RunSettings`, and what would lower its peak."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stethoscope.cli import run as cli_run
from stethoscope.cli.printed import print_json
from stethoscope.codec import SCHEMA_VERSION, answer_of
from stethoscope.errors import BadSetting, CannotRun
from stethoscope.memory.alternatives import KINDS
from stethoscope.memory.card_programs import who_holds
from stethoscope.memory.lowering_report import Lowered
from stethoscope.memory.run_settings import PRECISIONS, RunSettings
from stethoscope.sizes import parse_size
from stethoscope.types import Status

_OTHER_RUNTIMES = (".onnx", ".tflite")


def run_settings(
    *,
    batch_size: int,
    call: str = "function",
    precision: str = "as saved",
    xla: bool = False,
    device: str = "auto",
    memory_limit: str = "",
    allocator: str = "system",
    intra_threads: int | None = None,
    inter_threads: int | None = None,
    memory_growth: bool = False,
    gpu_memory_limit: str = "",
    logical_devices: str = "",
) -> RunSettings:
    """The settings that the options ask for.

    Args:
        batch_size: rows in one call.
        call: one of `CALLS`; hyphens are underscores.
        precision: one of `PRECISIONS`; hyphens may stand for spaces and underscores.
        xla: whether XLA compiles the model.
        device: "auto", "cpu", "gpu", or "gpu:1" for the second card.
        intra_threads: threads within one operation.
        inter_threads: operations at a time.
        memory_growth: whether a card's memory is taken as needed.
        gpu_memory_limit: a size, or "".
        logical_devices: sizes separated by commas ("2GB,2GB"), or a number of devices without sizes ("2"), or "".
        memory_limit: a size, or "".
        allocator: one of `ALLOCATORS`.

    Raises:
        BadSetting: a value makes no sense.
    """
    kind, _, index = device.lower().partition(":")
    known = {name.replace(" ", "_"): name for name in PRECISIONS}
    chosen = precision.lower().replace("-", "_").replace(" ", "_")
    return RunSettings(
        batch_size=batch_size,
        call=call.lower().replace("-", "_"),
        precision=known.get(chosen, precision),
        xla=xla,
        allocator=allocator.lower(),
        device=kind if index.isdigit() or not index else device,
        gpu_index=int(index) if index.isdigit() else 0,
        intra_threads=intra_threads,
        inter_threads=inter_threads,
        memory_growth=memory_growth,
        gpu_memory_limit_bytes=parse_size(gpu_memory_limit) if gpu_memory_limit else None,
        logical_devices=_devices(logical_devices),
        memory_limit_bytes=parse_size(memory_limit) if memory_limit else None,
    )


def call_styles(model: Path, text: str) -> list[str]:
    """The call styles in a list with commas; "auto" is how people call a model of this format.

    Raises:
        BadSetting: there is none.
        StethoscopeError: the file is of no known format.
    """
    found = [part.strip().lower().replace("-", "_") for part in text.split(",") if part.strip()]
    if not found:
        raise BadSetting("--call: expected at least one call style, for example predict.")
    if "auto" in found:
        from stethoscope.memory.call_styles import usual_call
        from stethoscope.models.formats import detect

        usual = usual_call(detect(cli_run.input_files(model, None)["model"]))
        found = [usual if style == "auto" else style for style in found]
    return list(dict.fromkeys(found))


def refusal(model: Path, settings: RunSettings) -> dict[str, Any] | None:
    """Why settings cannot be used here, and the nearest that can; None when they can.

    Returns:
        {"reason", "refusals": [{"setting", "kind", "message", "nearest"}], "nearest"}, settings as in `RunSettings.to_json`.
    """
    tensorflow = model.suffix.lower() not in _OTHER_RUNTIMES
    asked = ["batch_size", "memory_limit_bytes", "allocator"]
    if tensorflow and settings.call == "predict":
        asked.append("call")
    if settings == RunSettings(**{name: getattr(settings, name) for name in asked}):
        return None  # nothing was asked that could be refused: no need to look at the machine
    from stethoscope.devices import this_machine
    from stethoscope.memory.refusals import hindrances, nearest_valid

    machine = this_machine()
    found = hindrances(settings, machine, tensorflow=tensorflow)
    if not found:
        return None
    return {
        "reason": " ".join(item.message for item in found),
        "refusals": [
            {"setting": item.setting, "kind": item.kind, "message": item.message, "nearest": item.nearest.to_json()}
            for item in found
        ],
        "nearest": nearest_valid(settings, machine, tensorflow=tensorflow).to_json(),
    }


def refuse(model: Path, settings: RunSettings, as_json: bool, more: Mapping[str, Any] | None = None) -> None:
    """Ends a command whose settings cannot be used here; does nothing where they can.

    For a card that is not here, the program it takes is printed first, and how to see who holds one.

    Args:
        model: its file.
        settings: what was asked.
        as_json: whether one JSON object is printed.
        more: keys of the command's own JSON.

    Raises:
        BadSetting: the settings cannot be used here.
    """
    refused = refusal(model, settings)
    if refused is None:
        return
    code = _program(model, settings) if any(item["kind"] == "not here" for item in refused["refusals"]) else ""
    if as_json:
        status = {"schema_version": SCHEMA_VERSION, "status": Status.REFUSED.value, "phase": "settings"}
        told = {**status, "error": BadSetting.__name__, **(more or {}), **refused, "code": code}
        print_json(told)
    elif code:
        asked = "".join(f"#   {line}\n" for line in who_holds()[0].code.splitlines())
        sys.stdout.write(f"{code}\n# Who holds the card (`stethoscope doctor` prints more):\n{asked}")
        sys.stdout.flush()
    raise BadSetting(refused["reason"])


def _program(model: Path, settings: RunSettings) -> str:
    """The program for settings that another machine could run; "" where the file has none."""
    from stethoscope.devices import this_machine
    from stethoscope.memory.recipes import program_for
    from stethoscope.tasks.describe import Description

    result, _ = cli_run.describe(model)
    if result.status is not Status.OK:
        return ""
    try:
        return program_for(model.name, answer_of(result, Description).architecture, settings, this_machine())
    except CannotRun:
        return ""


def _devices(text: str) -> tuple[int, ...]:
    text = text.strip()
    if not text:
        return ()
    if text.isdigit() and int(text) <= 64:
        return (0,) * int(text)
    return tuple(parse_size(part) for part in text.split(","))


def known_kinds(text: str) -> tuple[str, ...]:
    """Reads "batch,precision".

    Raises:
        BadSetting: an unknown kind of change.
    """
    kinds = tuple(part.strip() for part in text.split(",") if part.strip())
    for kind in kinds:
        if kind not in KINDS:
            raise BadSetting(f"--changes {kind!r}: expected some of {', '.join(KINDS)}.")
    return kinds


def advised(
    model: Path,
    settings: RunSettings,
    *,
    data: Path | None = None,
    data_params: Mapping[str, Any] | None = None,
    kinds: tuple[str, ...] = KINDS,
    open_size: int | None = None,
    seed: int = 0,
    trusted: bool = False,
    memory_limit: str = "",
    timeout_s: float = 600.0,
) -> Lowered:
    """Tries other settings than these, each in a contained job; Ctrl-C ends with what was tried until then.

    Raises:
        UnreadableFile: a file is not there.
    """
    from stethoscope.studies.lowering import Lowering, LoweringRequest

    files = cli_run.input_files(model, data)
    limits = cli_run.budget(memory_limit, timeout_s)
    request = LoweringRequest(
        files["model"],
        settings,
        files.get("data"),
        data_params or {},
        cli_run.beside_files(files),
        kinds,
        open_size=open_size,
        seed=seed,
        trusted=trusted,
        memory_bytes=limits.memory_bytes,
        timeout_s=timeout_s,
    )
    with cli_run.short_engine() as engine, cli_run.interruptible() as stopped, cli_run.progress_line() as say:
        return Lowering(engine, request, lambda report: say(_line(report)), stopped).run()


def _line(report: Lowered) -> str:
    tried = sum(trial.status is not None for trial in report.trials)
    return f"{tried} of {len(report.trials)} tried  {report.progress}" if report.trials else report.progress
