"""`stethoscope describe`: models, or weights without a graph, read without loading them; several at once, and from standard input."""

from __future__ import annotations

import contextlib
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stethoscope.cli.answers import JsonOption, could_not, exit_for, failing_well, print_json, summary
from stethoscope.errors import StethoscopeError

if TYPE_CHECKING:
    from stethoscope.models.weights.fitting import WeightsFit
    from stethoscope.tasks.describe import Description
    from stethoscope.types import JobResult

_DIFFERENT = 1
"""Exit code where weights do not fit."""


def describe(
    models: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL",
            help="A model: .keras, .h5, SavedModel (folder, zip, tar), .tflite, .onnx, .pb; or weights without one: .weights.h5, "
            "a checkpoint, .safetensors. Several, a pattern or a folder of them: one line each. - reads standard input.",
        ),
    ],
    weights: Annotated[
        Path | None, typer.Option(help="Weights to hold beside the model: do they fit it? Exits with 1 if not.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Read a model's architecture without loading it."""
    with failing_well(), _files(models) as files:
        if len(files) > 1 or _is_many(models[0]):
            raise typer.Exit(_each(files, weights, as_json))
        raise typer.Exit(_one(files[0], weights, as_json))


def _is_many(word: str) -> bool:
    """Whether a word stands for several files, however many there are."""
    from stethoscope.cli.given import is_pattern

    return is_pattern(word)


@contextlib.contextmanager
def _files(words: Sequence[str]) -> Iterator[list[Path]]:
    """The files that words stand for; what came from standard input is gone afterwards."""
    from stethoscope.cli.given import expanded

    with contextlib.ExitStack() as stack:
        found: list[Path] = []
        for word in words:
            if word == "-":
                folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="stethoscope-")))
                with (folder / "standard-input").open("wb") as copy:
                    shutil.copyfileobj(sys.stdin.buffer, copy)
                found.append(folder / "standard-input")
            else:
                found += expanded(word)
        yield found


def _one(file: Path, weights: Path | None, as_json: bool) -> int:
    from stethoscope.cli import run as cli_run

    result, fitted = cli_run.describe(file, weights)
    described, fit = _read(result, fitted)
    if as_json:
        print_json(_answer(result, described, fitted, fit))
    elif described is not None:
        from stethoscope.cli import described_text

        described_text.description(described)
        if fit is not None:
            described_text.fit(fit)
    exit_for(result)
    if fitted is not None:
        exit_for(fitted)
    return 0 if fit is None or fit.fits else _DIFFERENT


def _each(files: Sequence[Path], weights: Path | None, as_json: bool) -> int:
    """One line for each; the exit code is that of the worst."""
    from stethoscope.cli import described_text
    from stethoscope.cli import run as cli_run

    worst = 0
    with cli_run.short_engine(cli_run.readers_at_once(len(files))) as engine:
        for file, found in cli_run.each_described(engine, files, weights):
            if isinstance(found, StethoscopeError):
                answer, line, code = could_not(found), str(found), found.exit_code
            else:
                result, fitted = found
                described, fit = _read(result, fitted)
                answer = _answer(result, described, fitted, fit)
                line = described_text.line(described, fit) if described is not None else result.reason
                code = described_text.exit_code(result, fitted, fit)
            if as_json:
                print_json({"file": str(file), **answer})
            else:
                sys.stdout.write(f"{described_text.printable(str(file))}  {described_text.printable(line)}\n")
            sys.stdout.flush()
            worst = max(worst, code)
    return worst


def _read(result: JobResult, fitted: JobResult | None) -> tuple[Description | None, WeightsFit | None]:
    from stethoscope.codec import answer_of
    from stethoscope.tasks.describe import Description
    from stethoscope.types import Status

    described = answer_of(result, Description) if result.status is Status.OK else None
    if fitted is None or fitted.status is not Status.OK:
        return described, None
    from stethoscope.models.weights.fitting import WeightsFit

    return described, answer_of(fitted, WeightsFit)


def _answer(
    result: JobResult, described: Description | None, fitted: JobResult | None, fit: WeightsFit | None
) -> dict[str, Any]:
    from stethoscope.codec import plain

    if described is None:
        return summary(result)
    whole = {"status": result.status.value, "reason": result.reason, **plain(described)}
    if fitted is not None:
        whole["weights_fit"] = summary(fitted) | ({} if fit is None else plain(fit))
    return whole
