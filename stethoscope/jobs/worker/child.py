"""One job, start to end, in a process that exists for it alone.

From untrusted bytes to a runner: recognise, describe, refuse what was not allowed, load. A process that was not forked is
`python -m stethoscope.jobs.worker.child KIND FOLDER LOG PROGRESS`.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from stethoscope import framework_errors
from stethoscope.codec import plain
from stethoscope.errors import OutOfMemory, OverBudget, QuotaExceeded, StethoscopeError, UnsafeFile
from stethoscope.framework_errors import ShortageReport, gist, named_by
from stethoscope.jobs import protocol
from stethoscope.jobs.worker.containment import contain, die_with_parent, limit, settle
from stethoscope.jobs.worker.memory import Meter
from stethoscope.models.formats import all_formats, detect
from stethoscope.models.model_format import refuse
from stethoscope.task import InNewProcess, TaskContext, task_of
from stethoscope.tasks import all_tasks
from stethoscope.types import Architecture, Job, Runner, Status


def import_for(kind: str, tasks: Sequence[str] = ()) -> None:
    """Imports what every job of a worker kind needs; with `tasks`, only for these kinds of jobs, which others then import themselves."""
    all_formats()
    for task in tasks:
        task_of(task)
    if not tasks:
        all_tasks()
        from stethoscope.data import dummy  # noqa: F401
        from stethoscope.memory import layer_estimate  # noqa: F401
    if kind == "tensorflow":
        # Modules that a first load or predict would import anyway; none of them runs an operation.
        import keras  # noqa: F401
        import tensorflow as tf  # noqa: F401
        import tf_keras  # noqa: F401


class _Reporter:
    """Progress as JSON lines on a pipe, at most a few each second unless the phase changes."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._phase = ""
        self._last_s = 0.0

    def __call__(self, phase: str, fraction: float | None = None, message: str = "") -> None:
        now = time.monotonic()
        if phase == self._phase and now - self._last_s < 0.1:
            return
        self._phase, self._last_s = phase, now
        line = json.dumps({"phase": phase[:200], "fraction": fraction, "message": message[:1000]}) + "\n"
        with contextlib.suppress(OSError):
            os.write(self._descriptor, line.encode()[: protocol.MAX_PROGRESS_LINE_BYTES])


def run(folder: Path, log: int, progress: int) -> None:
    """Runs the job in `folder` and ends the process; never returns.

    Args:
        folder: the job's folder, holding job.json.
        log: descriptor that becomes standard output and error.
        progress: descriptor for progress lines.
    """
    code = 1
    try:
        for descriptor in (1, 2):
            os.dup2(log, descriptor)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        settle(folder)
        job, strict = protocol.read_job(folder)
        limit(job.budget)
        meter = Meter(job.budget.memory_bytes)
        layers = contain(
            folder, [part.path for file in job.files.values() for part in (file, file.code) if part is not None]
        )
        meter.guard()
        loose = strict and not all(layers.values())
        answer = _work(job, folder, meter, _Reporter(progress), may_run_programs=not loose)
        _write(folder, answer | {"peak_rss_bytes": meter.highest_bytes(), "containment": layers})
        code = 0
    except BaseException:  # noqa: BLE001 - the last frame of a process: whatever it was must reach the log
        traceback.print_exc()
    finally:
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _work(job: Job, folder: Path, meter: Meter, report: _Reporter, *, may_run_programs: bool) -> dict[str, Any]:
    context: TaskContext = TaskContext(
        files=job.files,
        params=job.params,
        folder=folder,
        budget=job.budget,
        report=report,
        memory=meter,
        open_model=lambda role="model", described=_nothing: open_model(
            job, context, role, described, may_run_programs=may_run_programs
        ),
        before=protocol.read_before(folder),
    )
    report("starting" if context.before is None else "starting anew")
    try:
        value = task_of(job.kind).run(context)
        if isinstance(value, InNewProcess):
            context.entrust(value.state)
            return {"goes_on": True}
        context.keep_to_myself()
        return _answer(Status.OK, value)
    except OutOfMemory as error:
        return _answer(Status.OUT_OF_MEMORY, error.details, error)
    except OverBudget as error:
        return _over_budget(error)
    except UnsafeFile as error:
        return _answer(Status.REFUSED, error.details, error)
    except StethoscopeError as error:
        return _ran_out(error.__cause__) or _answer(Status.FAILED, error.details, error)
    except Exception as error:  # noqa: BLE001 - a bug or a framework's own error: reported, with its traceback in the log
        traceback.print_exc()
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            return _answer(Status.FAILED, {}, QuotaExceeded(protocol.DISK_FULL))
        ended = _ran_out(error)
        if ended is not None:
            return ended
        incident = hashlib.sha256(traceback.format_exc().encode()).hexdigest()[:8]
        subject = job.files["model"].name if "model" in job.files else job.kind
        sentence = f"{subject}: unexpected {type(error).__name__} in the {job.kind} job: {gist(error)}."
        return _answer(Status.FAILED, {}, StethoscopeError(sentence)) | {"incident": incident}


def _ran_out(error: BaseException | None) -> dict[str, Any] | None:
    """The answer where this error, or what lies behind it, says that memory ran out: the parent puts it into words."""
    cause = None if error is None else framework_errors.explain(error)
    if cause is None:
        return None
    return _answer(Status.OUT_OF_MEMORY, {"oom": named_by(cause)}, OutOfMemory(""))


def _over_budget(error: OverBudget) -> dict[str, Any]:
    """Memory is what is short where this machine has what the data takes; else the file is refused."""
    if error.needs_bytes > os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"):
        return _answer(Status.REFUSED, error.details, error)
    short = OutOfMemory(f"{error} Or raise the memory limit.")
    return _answer(Status.OUT_OF_MEMORY, {"oom": ShortageReport()}, short)


def _answer(status: Status, value: object, error: StethoscopeError | None = None) -> dict[str, Any]:
    return {
        "status": status.value,
        "value": plain(value),
        "reason": "" if error is None else str(error),
        "error": "" if error is None else type(error).__name__,
    }


def _write(folder: Path, answer: Mapping[str, Any]) -> None:
    temporary = folder / "result.tmp"
    temporary.write_text(json.dumps(answer))
    temporary.replace(folder / "result.json")


def _nothing() -> None:
    pass


def open_model(
    job: Job,
    context: TaskContext,
    role: str = "model",
    described: Callable[[], None] = _nothing,
    *,
    may_run_programs: bool = True,
) -> tuple[Architecture, Runner]:
    """Opens the model of `job` in a role, each at most once; `described` is called before it is loaded.

    What the owner allows is params["trusted"] for "model", and params["trusted_other"] for the role "other".

    Raises:
        CannotRun: no installed runtime can execute it.
        UnsafeFile: the file is a program in itself, and `may_run_programs` is false.
        NeedsTrust: the file holds code and its owner has not said yes.
        OutOfMemory: its weights alone exceed the job's memory limit, or loading ran out.
    """
    from stethoscope.data.dummy import foresee
    from stethoscope.memory.layer_estimate import largest_tensors

    file, folder, report = job.files[role], context.folder, context.report
    report("read", message=f"reading {file.name}")
    kind = detect(file)
    architecture = kind.describe(file)
    if kind.is_program and not may_run_programs and not architecture.runnable:
        raise UnsafeFile(
            f"{file.name}: a {kind.title} is a program, and this server's kernel cannot contain it (see `stethoscope "
            "doctor`). Upload the .keras file, or ask whoever runs this server."
        )
    trusted = bool(job.params.get("trusted" if role == "model" else f"trusted_{role}", False))
    refuse(file, architecture, trusted=trusted)
    (folder / "foretold.json").write_text(json.dumps(largest_tensors(architecture)))
    foresee(context, architecture.inputs)
    report("load", message=f"loading {file.name}")
    if architecture.weight_bytes > job.budget.memory_bytes:
        raise OutOfMemory(
            f"{file.name}: its weights alone need {architecture.weight_bytes:,} bytes; "
            f"the limit is {job.budget.memory_bytes:,}. Raise the memory limit.",
            {"oom": ShortageReport(weight_bytes=architecture.weight_bytes)},
        )
    scratch = folder / "tmp" / role
    scratch.mkdir(parents=True, exist_ok=True)
    described()
    try:
        return architecture, kind.open(file, scratch, trusted=trusted)
    except Exception as error:
        cause = framework_errors.explain(error)
        if cause is not None and not isinstance(error, OutOfMemory):
            raise OutOfMemory(
                f"Loading {file.name}: {cause.sentence} Raise the memory limit.", {"oom": named_by(cause)}
            ) from error
        raise


def main() -> None:
    """Imports what the job needs, then runs it; never returns."""
    kind, folder, log, progress = sys.argv[1:]
    die_with_parent()
    import_for(kind)
    run(Path(folder), int(log), int(progress))


if __name__ == "__main__":
    main()
