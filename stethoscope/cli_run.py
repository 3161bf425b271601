"""Running a job for the command line: one short-lived engine, progress on standard error, outputs kept."""

from __future__ import annotations

import contextlib
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from stethoscope.errors import BadSetting, StethoscopeError, UnreadableFile
from stethoscope.formats import all_formats
from stethoscope.jobs.job_engine import Engine
from stethoscope.sizes import parse_size
from stethoscope.types import Budget, Job, JobResult, ModelFile, Status, WorkerKind

_DESCRIBE_BUDGET = Budget(memory_bytes=4 << 30, timeout_s=120)


def budget(memory_limit: str, timeout_s: float) -> Budget:
    """The budget of a command; without a limit, the one of the settings."""
    if timeout_s <= 0:
        raise BadSetting(f"Timeout {timeout_s:g}: expected more than 0 seconds.")
    if memory_limit:
        return Budget(parse_size(memory_limit), timeout_s)
    from stethoscope.settings import settings

    return Budget(int(settings().job_memory_bytes), timeout_s)


def describe(model: Path) -> JobResult:
    """Describes a model in a light worker."""
    with short_engine() as engine:
        return _run(engine, Job("describe", input_files(model, None), {}, _DESCRIBE_BUDGET))


def model_job(
    kind: str, model: Path, data: Path | None, params: Mapping[str, Any], limits: Budget, out: Path | None = None
) -> tuple[JobResult, Path]:
    """Runs a job on a model in the kind of worker its format needs; returns the result and where its files are.

    Raises:
        StethoscopeError: the model could not be described; the exception says why.
    """
    files = input_files(model, data)
    with short_engine() as engine:
        described = _run(
            engine, Job("describe", {"model": files["model"], **beside_files(files)}, {}, _DESCRIBE_BUDGET)
        )
        if described.status is not Status.OK:
            return described, Path()
        worker = all_formats()[str(described.value["format_id"])].worker
        result = _run(engine, Job(kind, files, params, limits, worker))
        if not result.files:
            return result, Path()
        folder = out or Path(tempfile.mkdtemp(prefix=f"stethoscope-{kind}-"))
        folder.mkdir(parents=True, exist_ok=True)
        for name, path in result.files.items():
            shutil.copyfile(path, folder / name)
        return result, folder.resolve()


def input_files(model: Path, data: Path | None) -> dict[str, ModelFile]:
    """The files of a job by role: model, data, and what lies beside an ONNX model.

    Raises:
        UnreadableFile: a file is not there.
    """
    files = {"model": ModelFile(model.resolve(), model.name)}
    if data is not None:
        files["data"] = ModelFile(data.resolve(), data.name)
    for role, file in files.items():
        if not file.path.exists():
            raise UnreadableFile(f"{file.name}: no such file. Check the path given for the {role}.")
    if model.is_file() and model.suffix.lower() == ".onnx":
        # External data lies beside the model; nothing else of the folder becomes readable.
        for number, path in enumerate(_beside(files["model"].path)):
            files[f"beside-{number}"] = ModelFile.at(path)
    return files


def _beside(model: Path) -> list[Path]:
    endings = {".data", ".bin", ".weight", ".weights", ".onnx_data", ".pb", ""}
    found = (
        path for path in sorted(model.parent.iterdir()) if path.is_file() and not path.is_symlink() and path != model
    )
    return [path for path in found if path.suffix.lower() in endings or path.name.startswith(model.stem)][:2000]


def beside_files(files: Mapping[str, ModelFile]) -> dict[str, ModelFile]:
    """Those of `files` that belong to the model without being it."""
    return {role: file for role, file in files.items() if role.startswith("beside-")}


@contextlib.contextmanager
def short_engine(slots_each: int = 1) -> Iterator[Engine]:
    """An engine for one command, stopped at its end; nothing is kept."""
    slots: dict[WorkerKind, int] = {"light": slots_each, "tensorflow": slots_each}
    with tempfile.TemporaryDirectory(prefix="stethoscope-") as folder:
        engine = Engine(Path(folder), slots, 1 << 62, reuse=False)
        try:
            yield engine
        finally:
            engine.stop()


def _run(engine: Engine, job: Job) -> JobResult:
    job_id = engine.submit(job)
    if not sys.stderr.isatty():
        return engine.wait(job_id)
    from rich.console import Console

    console = Console(stderr=True)
    with console.status("starting") as status:
        try:
            while not (state := engine.state(job_id)).done:
                status.update(f"{state.progress.phase}  {state.progress.message}")
                time.sleep(0.05)
        except KeyboardInterrupt:
            engine.cancel(job_id)
            raise StethoscopeError("Cancelled.") from None
    return engine.wait(job_id)
