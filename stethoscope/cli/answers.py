"""How every command ends: its answer on standard output, its reason on standard error, its exit code.

Options that several commands of the command line have, each described once.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from stethoscope.cli.printed import exit_code, json_asked, print_failure, print_json, summary
from stethoscope.codec import answer_of, partial_of, plain
from stethoscope.errors import BadSetting, StethoscopeError
from stethoscope.types import JobResult, Status

if TYPE_CHECKING:
    from stethoscope.checks.findings import Severity

T = TypeVar("T")


def known(result: JobResult, kind: type[object]) -> dict[str, Any]:
    """What a job answered, or knew when it ended, as JSON; with the report of a shortage of memory under "oom"."""
    from stethoscope.framework_errors import shortage_of

    answer, shortage = partial_of(result, kind), shortage_of(result)
    value: dict[str, Any] = {} if answer is None else plain(answer)
    return value if shortage is None else value | {"oom": plain(shortage)}


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
    raise typer.Exit(exit_code(status or Status.FAILED))


@contextlib.contextmanager
def failing_well() -> Iterator[None]:
    """Turns what we cannot do into one line on standard error and an exit code; with --json, into an object too."""
    try:
        yield
    except StethoscopeError as error:
        if json_asked.get():
            print_failure(error)
        sys.stderr.write(f"{error}\n")
        raise typer.Exit(error.exit_code) from error


def severity(label: str) -> Severity:
    """Reads `--fail-on`.

    Raises:
        BadSetting: no such severity.
    """
    from stethoscope.checks.findings import Severity

    try:
        return Severity.named(label)
    except KeyError:
        known = ", ".join(item.label for item in Severity)
        raise BadSetting(f"--fail-on {label!r}: expected one of {known}. Correct it.") from None


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Says that a file cannot be written, and what to do.

    Raises:
        StethoscopeError: so.
    """
    try:
        yield
    except OSError as error:
        raise StethoscopeError(f"{path}: cannot be written ({error.strerror}). Choose another place.") from error


ModelArgument = Annotated[
    Path, typer.Argument(help="A model: .keras, .h5, SavedModel (folder, zip, tar), .tflite, .onnx, .pb.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
DataOption = Annotated[
    Path | None,
    typer.Option(
        help="Samples: .npz, .npy, .csv, .parquet, .tfrecord, .jsonl, .txt, .wav, images in folders or archives, COCO, YOLO, VOC …"
    ),
]
PrepareOption = Annotated[
    str, typer.Option(help='Steps that prepare the data, as JSON: [{"step": "scale", "of": "x", "factor": 0.00392}].')
]
TargetOption = Annotated[
    str, typer.Option(help="The column or array of the data that is to be foretold; none for no target.")
]
TrustOption = Annotated[
    bool, typer.Option("--trust", help="Run the code this file holds (Lambda, custom class), contained.")
]
MemoryOption = Annotated[str, typer.Option(help="Memory the job may add, for example 512MB or 2GB.")]
CallOption = Annotated[
    str,
    typer.Option(
        help="predict, predict_on_batch, call (model(x)), function or compiled; auto is predict for a Keras model and "
        "function for other files."
    ),
]
PrecisionOption = Annotated[
    str, typer.Option(help="as-saved, float32, mixed_float16, mixed_bfloat16, float16 or bfloat16.")
]
XlaOption = Annotated[bool, typer.Option("--xla", help="Compile with XLA.")]
AllocatorOption = Annotated[
    str, typer.Option(help="On the CPU: system (gives freed memory back) or pool (TensorFlow's own, as it comes).")
]
DeviceOption = Annotated[str, typer.Option(help="auto, cpu, gpu, or gpu:1 for the second card.")]
TimeoutOption = Annotated[float, typer.Option(help="Seconds before the job is stopped.")]
