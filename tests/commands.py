"""Commands in this process and on an engine that is there already: no Python and no TensorFlow to start for each.

That the program itself starts, prints and ends as it should is asserted in `test_cli.py`, on real processes.
"""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass
from typing import Any

import pytest
from typer.testing import CliRunner

from stethoscope.cli import check as cli_check
from stethoscope.cli import run as cli_run
from stethoscope.cli.app import app
from stethoscope.jobs.job_engine import Engine


@dataclass(frozen=True)
class Ended:
    """How a command ended, named as `subprocess` does."""

    returncode: int
    stdout: str
    stderr: str


class Commands:
    """Runs `stethoscope WORDS` with `engine` in place of the short-lived one of each command."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def run(self, *words: object) -> Ended:
        with pytest.MonkeyPatch.context() as patch:
            for module in (cli_run, cli_check):
                patch.setattr(module, "short_engine", lambda *_: contextlib.nullcontext(self._engine))
            result = CliRunner().invoke(app, [str(word) for word in words])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Ended(result.exit_code, result.stdout, result.stderr)

    def answer(self, *words: object) -> Any:
        """The one object that `--json` prints."""
        done = self.run(*words, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)
