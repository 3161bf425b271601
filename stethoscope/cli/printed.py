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
