"""What would lower the peak, for the commands that offer it: other settings, each tried in a contained job."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stethoscope.cli import run as cli_run
from stethoscope.errors import BadSetting
from stethoscope.memory.alternatives import KINDS
from stethoscope.memory.lowering_report import Lowered
from stethoscope.memory.run_settings import RunSettings


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
    from stethoscope.studies.lab.lowering import Lowering, LoweringRequest

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
