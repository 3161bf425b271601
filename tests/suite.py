"""The whole suite as a process, as `make test` runs it."""

from __future__ import annotations

import sys


def command(*words: str, python: str = sys.executable) -> list[str]:
    """The words that run the tests on all cores, with further ones of pytest's."""
    return [python, "-m", "pytest", "--numprocesses", "auto", "--dist", "worksteal", *words]
