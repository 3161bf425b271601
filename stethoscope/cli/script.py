"""Scripts on the command line: which of the given files is one, text from standard input, and the patched copy."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from stethoscope.checks.findings import Finding
from stethoscope.cli.answers import writing
from stethoscope.cli.run import run_job, short_engine
from stethoscope.errors import BadSetting, TooLarge, UnreadableFile
from stethoscope.jobs.job_engine import Engine
from stethoscope.pasted.scripts.source import MOST_BYTES, looks_like_script
from stethoscope.studies.diagnosis.report import Report
from stethoscope.studies.diagnosis.with_script import job, of_script, with_script
from stethoscope.types import ModelFile

_HEAD_BYTES = 65_536
PASTED = "pasted.py"
"""What text from standard input is called."""


@dataclass(frozen=True)
class Given:
    """What was given to look at: a model, a script, or both."""

    model: Path | None
    script: ModelFile | None


@contextmanager
def given(first: Path, second: Path | None, option: Path | None) -> Iterator[Given]:
    """The model and the script among the files of a command; "-" is a script from standard input.

    Raises:
        StethoscopeError: neither, two of one kind, or a file that is not there.
    """
    paths = [path for path in (first, second) if path is not None]
    with tempfile.TemporaryDirectory(prefix="stethoscope-pasted-") as folder:
        scripts, models = [], []
        for path in paths:
            if str(path) == "-":
                scripts.append(_pasted(Path(folder)))
            elif _is_script(path):
                scripts.append(ModelFile(path.resolve(), path.name))
            else:
                models.append(path)
        if option is not None:
            if not option.is_file():
                raise UnreadableFile(f"{option.name}: no such file. Check the path given for the script.")
            scripts.append(ModelFile(option.resolve(), option.name))
        if len(scripts) > 1 or len(models) > 1:
            raise BadSetting("Expected one model, one script, or one of each. Give them one after the other.")
        yield Given(models[0] if models else None, scripts[0] if scripts else None)


def _pasted(folder: Path) -> ModelFile:
    content = sys.stdin.buffer.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise TooLarge(f"Standard input: expected a script of at most {MOST_BYTES >> 20} MiB.")
    place = folder / PASTED
    place.write_bytes(content)
    return ModelFile(place, PASTED)


def _is_script(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        return looks_like_script(stream.read(_HEAD_BYTES), path.name)


def read(engine: Engine, script: ModelFile, report: Report | None = None) -> Report:
    """Reads a script, alone or beside what was said of its model."""
    result = run_job(engine, job(script))
    return of_script(script.name, result) if report is None else with_script(report, script.name, result)


def alone(script: ModelFile) -> Report:
    """The report about a script."""
    with short_engine() as engine:
        return read(engine, script)


def write_patched(script: ModelFile, findings: tuple[Finding, ...], target: Path) -> str:
    """Writes the script with every patch of these findings made; what was done, in words.

    Raises:
        StethoscopeError: the file is there already, or cannot be written.
    """
    from stethoscope.pasted.scripts.review import rewritten

    if target.exists():
        raise BadSetting(f"--patch {target}: expected a new file, got one that is there. Nothing is overwritten.")
    content, made, left_out = rewritten(script.path.read_bytes(), script.name, findings)
    with writing(target):
        target.write_bytes(content)
    more = (
        f"; {left_out} left out, since they change the same words as others: run it again on the new file"
        if left_out
        else ""
    )
    return f"{target}: {made} patches made{more}."
