"""How `stethoscope describe` answers: of one file in full, of several a line each. Imports nothing that parses commands."""

from __future__ import annotations

import contextlib
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stethoscope.cli.given import expanded, is_pattern
from stethoscope.cli.printed import could_not, exit_code, print_json, summary
from stethoscope.errors import StethoscopeError

if TYPE_CHECKING:
    from stethoscope.models.weights.fitting import WeightsFit
    from stethoscope.tasks.describe import Description
    from stethoscope.types import JobResult

_DIFFERENT = 1
"""Exit code where weights do not fit."""


def ended(words: Sequence[str], weights: Path | None, as_json: bool) -> int:
    """Describes what the words stand for, prints it, and returns the exit code."""
    try:
        with _files(words) as files:
            if len(files) > 1 or is_pattern(words[0]):
                return _each(files, weights, as_json)
            return _one(files[0], weights, as_json)
    except StethoscopeError as error:
        if as_json:
            print_json(could_not(error))
        sys.stderr.write(f"{error}\n")
        return error.exit_code


@contextlib.contextmanager
def _files(words: Sequence[str]) -> Iterator[list[Path]]:
    """The files that words stand for; what came from standard input is gone afterwards."""
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
    for one in (result, fitted):
        if one is not None and one.reason:
            sys.stderr.write(f"{one.reason}\n")
    return _exit_code(result, fitted, fit)


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
                code = _exit_code(result, fitted, fit)
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


def _exit_code(result: JobResult, fitted: JobResult | None, fit: WeightsFit | None) -> int:
    ended = [exit_code(one.status) for one in (result, fitted) if one is not None]
    return max(ended) or (0 if fit is None or fit.fits else _DIFFERENT)
