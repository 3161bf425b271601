"""From untrusted bytes to a runner: recognise, describe, refuse what was not allowed, load."""

from __future__ import annotations

import json
from pathlib import Path

from stethoscope import out_of_memory
from stethoscope.errors import CannotRun, NeedsTrust, OutOfMemory, UnsafeFile
from stethoscope.memory.largest_tensor import largest_tensors
from stethoscope.models.formats import detect
from stethoscope.shortage_report import ShortageReport, named_by
from stethoscope.task import Reporter
from stethoscope.types import Architecture, Job, Runner


def open_model(
    job: Job, folder: Path, report: Reporter, role: str = "model", *, may_run_programs: bool = True
) -> tuple[Architecture, Runner]:
    """Opens the model of `job` in a role, each at most once.

    What the owner allows is params["trusted"] for "model", and params["trusted_other"] for the role "other".

    Raises:
        UnsafeFile: the file is a program in itself, and `may_run_programs` is false.
        NeedsTrust: the file holds code and its owner has not said yes.
        CannotRun: no installed runtime can execute it.
        OutOfMemory: its weights alone exceed the job's memory limit, or loading ran out.
    """
    file = job.files[role]
    report("read", message=f"reading {file.name}")
    kind = detect(file)
    architecture = kind.describe(file)
    if kind.is_program and not may_run_programs:
        raise UnsafeFile(
            f"{file.name}: a {kind.title} is a program, and this server's kernel cannot contain it (see `stethoscope "
            "doctor`). Upload the .keras file, or ask whoever runs this server."
        )
    trusted = bool(job.params.get("trusted" if role == "model" else f"trusted_{role}", False))
    if architecture.hazards and not trusted:
        first = architecture.hazards[0]
        more = f" (and {len(architecture.hazards) - 1} more)" if len(architecture.hazards) > 1 else ""
        raise NeedsTrust(f"{file.name}: {first.message}{more} It is run only after its owner allows it for this file.")
    if architecture.runnable:
        reason = architecture.runnable.removeprefix(f"{file.name}: ")
        raise CannotRun(f"{file.name}: {reason[:1].lower()}{reason[1:]}")
    (folder / "foretold.json").write_text(json.dumps(largest_tensors(architecture)))
    report("load", message=f"loading {file.name}")
    if architecture.weight_bytes > job.budget.memory_bytes:
        raise OutOfMemory(
            f"{file.name}: its weights alone need {architecture.weight_bytes:,} bytes; "
            f"the limit is {job.budget.memory_bytes:,}. Raise the memory limit.",
            {"oom": ShortageReport(weight_bytes=architecture.weight_bytes)},
        )
    scratch = folder / "tmp" / role
    scratch.mkdir(parents=True, exist_ok=True)
    try:
        return architecture, kind.open(file, scratch, trusted=trusted)
    except Exception as error:
        cause = out_of_memory.explain(error)
        if cause is not None and not isinstance(error, OutOfMemory):
            raise OutOfMemory(
                f"Loading {file.name}: {cause.sentence}",
                {"oom": named_by(cause)},
            ) from error
        raise
