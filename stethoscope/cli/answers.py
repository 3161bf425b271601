"""How every command ends: its answer on standard output, its reason on standard error, its exit code."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

import typer

from stethoscope.codec import SCHEMA_VERSION, answer_of, partial_of, plain
from stethoscope.errors import StethoscopeError, UnsafeFile
from stethoscope.shortage_report import shortage_of
from stethoscope.types import JobResult, Status

T = TypeVar("T")


def summary(result: JobResult) -> dict[str, Any]:
    """How a job ended, as every JSON answer says it."""
    return {
        "schema_version": SCHEMA_VERSION,
        "status": result.status.value,
        "phase": result.phase,
        "reason": result.reason,
        "error": result.error,
    }


def known(result: JobResult, kind: type[object]) -> dict[str, Any]:
    """What a job answered, or knew when it ended, as JSON; with the report of a shortage of memory under "oom"."""
    answer, shortage = partial_of(result, kind), shortage_of(result)
    value: dict[str, Any] = {} if answer is None else plain(answer)
    return value if shortage is None else value | {"oom": plain(shortage)}


def print_json(value: Mapping[str, Any]) -> None:
    """Prints an answer as one JSON object."""
    sys.stdout.write(json.dumps(value, allow_nan=False) + "\n")


def answer_or_exit(result: JobResult, kind: type[T], as_json: bool) -> T:
    """The job's answer; without one, says why and ends the command."""
    if result.status is not Status.OK and as_json:
        print_json(summary(result))
    exit_for(result)
    return answer_of(result, kind)


def worst(results: Mapping[str, JobResult]) -> JobResult:
    """The job that says how a command of several ended: the first that did not end well, else the first."""
    ended = list(results.values())
    return next((result for result in ended if result.status is not Status.OK), ended[0])


def exit_for(result: JobResult) -> None:
    """Ends with 0 for an answer, 3 for a refusal, 2 for anything that could not run (the reason on standard error)."""
    exit_for_status(result.status, result.reason)


def exit_for_status(status: Status | None, reason: str) -> None:
    """The same for what is more than one job."""
    if status is Status.OK:
        return
    sys.stderr.write(f"{reason}\n")
    raise typer.Exit(UnsafeFile.exit_code if status is Status.REFUSED else StethoscopeError.exit_code)


@contextlib.contextmanager
def failing_well() -> Iterator[None]:
    """Turns what we cannot do into one line on standard error and an exit code."""
    try:
        yield
    except StethoscopeError as error:
        sys.stderr.write(f"{error}\n")
        raise typer.Exit(error.exit_code) from error
