"""Running a job for the command line: one short-lived engine, progress on standard error, outputs kept."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from stethoscope.cli.given import code_given, model_meant, shards_of
from stethoscope.codec import answer_of
from stethoscope.devices import default_floor_bytes
from stethoscope.errors import BadSetting, StethoscopeError, UnreadableFile
from stethoscope.jobs.host_memory import HostMemory
from stethoscope.jobs.job_engine import Engine
from stethoscope.models.formats import all_formats
from stethoscope.sizes import parse_size
from stethoscope.task import await_answer
from stethoscope.tasks.describe import FormatNamed
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


def describe(model: Path, weights: Path | None = None) -> tuple[JobResult, JobResult | None]:
    """Describes a model in a light worker; with weights, also whether they fit it, where the model could be described."""
    jobs = _describing(model, weights)
    with short_engine(len(jobs)) as engine:
        return _with_fit(run_jobs(engine, jobs))


def each_described(
    engine: Engine, models: Sequence[Path], weights: Path | None
) -> Iterator[tuple[Path, tuple[JobResult, JobResult | None] | StethoscopeError]]:
    """The same of several, in their order; of one that is not there, why."""
    submitted: list[tuple[Path, list[str] | StethoscopeError]] = []
    for model in models:
        try:
            submitted.append((model, [engine.submit(job) for job in _describing(model, weights)]))
        except StethoscopeError as error:
            submitted.append((model, error))
    for model, ids in submitted:
        yield model, ids if isinstance(ids, StethoscopeError) else _with_fit([engine.wait(one) for one in ids])


def readers_at_once(files: int) -> int:
    """How many files are read beside each other."""
    return max(1, min(files, os.cpu_count() or 1, 4))


def _describing(model: Path, weights: Path | None) -> list[Job]:
    files = input_files(model, None)
    jobs = [Job("describe", files, {}, _DESCRIBE_BUDGET)]
    if weights is not None:
        theirs = {
            "weights" if role == "model" else f"weights-{role}": file
            for role, file in input_files(weights, None).items()
        }
        jobs.append(Job("fit_weights", files | theirs, {}, _DESCRIBE_BUDGET))
    return jobs


def _with_fit(results: Sequence[JobResult]) -> tuple[JobResult, JobResult | None]:
    described, *fitted = results
    return described, fitted[0] if fitted and described.status is Status.OK else None


def model_job(
    kind: str,
    model: Path,
    data: Path | None,
    params: Mapping[str, Any],
    limits: Budget,
    out: Path | None = None,
    worker: WorkerKind | None = None,
) -> tuple[JobResult, Path]:
    """Runs a job on a model in the kind of worker its format needs, or in `worker`; returns the result and where its files are.

    Raises:
        StethoscopeError: the model could not be described; the exception says why.
    """
    files = input_files(model, data)
    with short_engine() as engine:
        described, needed = describe_kind(engine, files)
        if described.status is not Status.OK:
            return described, Path()
        result = run_job(engine, Job(kind, files, params, limits, worker or needed))
        if not result.files:
            return result, Path()
        folder = out or Path(tempfile.mkdtemp(prefix=f"stethoscope-{kind}-"))
        folder.mkdir(parents=True, exist_ok=True)
        for name, path in result.files.items():
            shutil.move(path, folder / name)  # the engine's own folder goes
        return result, folder.resolve()


def describe_kind(
    engine: Engine, files: Mapping[str, ModelFile], limits: Budget = _DESCRIBE_BUDGET
) -> tuple[JobResult, WorkerKind]:
    """Describes the model among `files`; returns the result, and the kind of worker that its format needs."""
    asked = {"model": files["model"], **beside_files(files)}
    described = run_job(engine, Job("describe", asked, {}, limits))
    if described.status is not Status.OK:
        return described, "light"
    return described, all_formats()[answer_of(described, FormatNamed).format_id].worker


def data_params(prepare: str, target: str) -> dict[str, Any]:
    """A job's params for --prepare and --target; both are left out where nothing was asked.

    Raises:
        BadSetting: not a list of steps in JSON, or a step that does not exist.
    """
    found: dict[str, Any] = {}
    if prepare:
        from stethoscope.data.preprocessing.preparation import Preparation

        try:
            steps = json.loads(prepare)
        except (ValueError, RecursionError) as error:
            raise BadSetting(
                f'--prepare: expected JSON like [{{"step": "scale", "of": "x"}}], got {prepare[:60]!r} ({error}).'
            ) from error
        if not isinstance(steps, list) or not all(isinstance(step, dict) for step in steps):
            raise BadSetting(f"--prepare: expected a list of steps, got {prepare[:60]!r}. Put them in [ ].")
        found["preparation"] = Preparation.from_json(steps).to_json()
    if target:
        found["data_options"] = {"target": target}
    return found


def input_files(model: Path, data: Path | None) -> dict[str, ModelFile]:
    """The files of a job by role: model, data, and what lies beside an ONNX model.

    Raises:
        UnreadableFile: a file is not there.
    """
    model = model_meant(model)
    files = {"model": ModelFile(model.resolve(), model.name, code=code_given())}
    if data is not None:
        files["data"] = ModelFile(data.resolve(), data.name)
    for role, given in (("model", model), ("data", data)):
        if given is not None and not given.exists():
            raise UnreadableFile(f"{given}: no such file. Check the path given for the {role}.")
    # What belongs to the file lies beside it; nothing else of the folder becomes readable.
    for number, path in enumerate(_beside(files["model"].path) if model.is_file() else ()):
        files[f"beside-{number}"] = ModelFile.at(path)
    return files


def _beside(model: Path) -> list[Path]:
    """External data of an ONNX model, the values of a checkpoint's index."""
    suffix = model.suffix.lower()
    if suffix == ".index":
        return shards_of(model)
    if suffix != ".onnx":
        return []
    found = (
        path for path in sorted(model.parent.iterdir()) if path.is_file() and not path.is_symlink() and path != model
    )
    endings = {".data", ".bin", ".weight", ".weights", ".onnx_data", ".pb", ""}
    return [path for path in found if path.suffix.lower() in endings or path.name.startswith(model.stem)][:2000]


def beside_files(files: Mapping[str, ModelFile]) -> dict[str, ModelFile]:
    """Those of `files` that belong to the model without being it."""
    return {role: file for role, file in files.items() if role.startswith("beside-")}


@contextlib.contextmanager
def short_engine(slots_each: int = 1) -> Iterator[Engine]:
    """An engine for one command, stopped at its end; nothing is kept."""
    slots: dict[WorkerKind, int] = {"light": slots_each, "tensorflow": slots_each}
    with tempfile.TemporaryDirectory(prefix="stethoscope-") as folder:
        engine = Engine(Path(folder), slots, 1 << 62, host=HostMemory(_kept_free_bytes()), reuse=False)
        try:
            yield engine
        finally:
            engine.stop()


def _kept_free_bytes() -> int:
    name = "STETHOSCOPE_MIN_FREE_MEMORY_BYTES"
    if name not in os.environ:
        return default_floor_bytes()
    from stethoscope.settings import settings  # not at every start: it takes longer than describing a model

    return int(settings().min_free_memory_bytes)


class _Interrupt:
    """What the signal of Ctrl-C does: it is noted once, and ends the command the second time."""

    def __init__(self) -> None:
        self.pressed = threading.Event()

    def __call__(self, _number: int, _frame: object) -> None:
        if self.pressed.is_set():
            raise KeyboardInterrupt
        self.pressed.set()


@contextlib.contextmanager
def interruptible() -> Iterator[Callable[[], bool]]:
    """While open, Ctrl-C is an answer instead of an end: yields what says whether it was pressed; the second ends as ever.

    Within another, it is the same question.
    """
    before = signal.getsignal(signal.SIGINT)
    if isinstance(before, _Interrupt) or threading.current_thread() is not threading.main_thread():
        yield before.pressed.is_set if isinstance(before, _Interrupt) else lambda: False
        return
    noted = _Interrupt()
    signal.signal(signal.SIGINT, noted)
    try:
        yield noted.pressed.is_set
    finally:
        signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def progress_line() -> Iterator[Callable[[str], None]]:
    """A line on standard error that says what is done now and for how long, if that is a terminal."""
    if not sys.stderr.isatty():
        yield lambda text: None
        return
    from rich.console import Console
    from rich.markup import escape

    start = time.monotonic()
    with Console(stderr=True).status("starting") as status:
        yield lambda text: status.update(f"{escape(text)}  {time.monotonic() - start:.0f} s")


def run_job(engine: Engine, job: Job) -> JobResult:
    """Waits for a job; Ctrl-C cancels it, and the result is what it had found until then."""
    return run_jobs(engine, [job])[0]


def run_jobs(engine: Engine, jobs: Sequence[Job]) -> list[JobResult]:
    """Waits for several jobs, as many at once as the engine runs; Ctrl-C cancels those that are not done."""
    ids = [engine.submit(job) for job in jobs]
    for kind in {job.kind for job in jobs}:
        await_answer(kind)  # while the worker starts
    with interruptible() as stopped, progress_line() as say:
        while waiting := [one for one in ids if not engine.state(one).done]:
            if stopped():
                for one in waiting:
                    engine.cancel(one)
            now = engine.state(waiting[0]).progress
            number = f"{len(ids) - len(waiting) + 1} of {len(ids)}  " if len(ids) > 1 else ""
            say(f"{number}{now.phase}  {now.message}")
            with contextlib.suppress(TimeoutError):
                engine.wait(waiting[0], 0.1)
    return [engine.wait(one) for one in ids]
