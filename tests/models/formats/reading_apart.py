"""Files read in a child process, as the product's workers do: what crashes a library's C code is an answer about that file."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from stethoscope.errors import StethoscopeError
from stethoscope.models.formats import all_formats
from stethoscope.types import ModelFile

CRASH = "the process that read it ended"
"""What is told of a file whose reader died without a word."""


class Reader:
    """One child process that describes files, replaced when a file ends it."""

    def __init__(self) -> None:
        self._pool = self._started()

    @staticmethod
    def _started() -> ProcessPoolExecutor:
        # A page that was tested is left behind as `__main__`, which a new process would run before anything else.
        main, sys.modules["__main__"] = sys.modules["__main__"], ModuleType("__main__")
        try:
            pool = ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))
            pool.submit(os.getpid).result(60)
        finally:
            sys.modules["__main__"] = main
        return pool

    def pid(self) -> int:
        """The child."""
        return self._pool.submit(os.getpid).result(60)

    def told(self, format_id: str, path: Path) -> str | None:
        """None when `path` was described, else why not: our own sentence, or CRASH; any other error is raised."""
        return self.asked(_described, format_id, path)

    def asked(self, function: Callable[..., str | None], *arguments: object) -> str | None:
        """What a function answers in the child, or CRASH where that ended."""
        try:
            self.pid()
        except BrokenProcessPool:
            self._replace()  # what came before had its effect late
        try:
            return self._pool.submit(function, *arguments).result(60)
        except BrokenProcessPool:
            self._replace()
            return CRASH

    def _replace(self) -> None:
        self.close()
        self._pool = self._started()

    def close(self) -> None:
        """Ends the child."""
        self._pool.shutdown(cancel_futures=True)


@contextmanager
def reading_apart() -> Iterator[Reader]:
    """A reader, ended at the end."""
    reader = Reader()
    try:
        yield reader
    finally:
        reader.close()


def _described(format_id: str, path: Path) -> str | None:
    format_, file = all_formats()[format_id], ModelFile.at(path)
    format_.sniff(file)
    try:
        format_.describe(file)
    except StethoscopeError as error:
        return str(error)
    return None
