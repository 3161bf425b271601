"""What every command prints as JSON, whatever happened, and the exit code that belongs to it. Imports nothing that parses commands."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any

from stethoscope.codec import SCHEMA_VERSION
from stethoscope.errors import OutOfMemory, StethoscopeError, UnsafeFile
from stethoscope.types import JobResult, Status

json_asked: ContextVar[bool] = ContextVar("json_asked", default=False)
"""Whether the command line that is under way has `--json` in it."""


_printed: ContextVar[bool] = ContextVar("printed", default=False)


def begin(*, as_json: bool) -> None:
    """That a command line begins, and whether it asks for JSON: it then prints one object."""
    json_asked.set(as_json)
    _printed.set(False)


def print_failure(error: StethoscopeError) -> None:
    """Prints what we cannot do as the answer, unless the command has printed a fuller one."""
    if not _printed.get():
        print_json(could_not(error))


def summary(result: JobResult) -> dict[str, Any]:
    """How a job ended, as every JSON answer says it."""
    return {
        "schema_version": SCHEMA_VERSION,
        "status": result.status.value,
        "phase": result.phase,
        "reason": result.reason,
        "error": result.error,
    }


def print_json(value: Mapping[str, Any]) -> None:
    """Prints an answer as one JSON object."""
    _printed.set(True)
    sys.stdout.write(json.dumps(value, allow_nan=False) + "\n")


def could_not(error: StethoscopeError) -> dict[str, Any]:
    """What we cannot do as the object that `--json` prints."""
    refused, short = isinstance(error, UnsafeFile), isinstance(error, OutOfMemory)
    status = Status.REFUSED if refused else Status.OUT_OF_MEMORY if short else Status.FAILED
    return {
        "schema_version": SCHEMA_VERSION,
        "status": status.value,
        "reason": str(error),
        "error": type(error).__name__,
        **error.details,
    }


def exit_code(status: Status) -> int:
    """0 for an answer, 3 for a refusal, 2 for anything that could not run."""
    if status is Status.OK:
        return 0
    return UnsafeFile.exit_code if status is Status.REFUSED else StethoscopeError.exit_code
