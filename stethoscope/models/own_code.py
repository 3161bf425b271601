"""Python that people wrote beside their model: which classes and functions it defines, read and not run."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from stethoscope.errors import StethoscopeError, TooLarge, UnreadableFile
from stethoscope.types import ModelFile

MAX_BYTES = 1 << 20
_DEFINITIONS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_PARTS = (ast.If, ast.Try, ast.With)


def source_of(code: ModelFile) -> bytes:
    """Its bytes.

    Raises:
        TooLarge: more than a megabyte.
    """
    with code.path.open("rb") as stream:
        source = stream.read(MAX_BYTES + 1)
    if len(source) > MAX_BYTES:
        raise TooLarge(f"{code.name}: expected Python of at most {MAX_BYTES:,} bytes. Leave only what the model needs.")
    return source


@dataclass(frozen=True)
class OwnCode:
    """What was given beside a model."""

    file: ModelFile
    names: frozenset[str]
    """What it defines at its top."""
    problem: str = ""
    """Why it cannot be run: one sentence."""


def read(code: ModelFile | None) -> OwnCode | None:
    """What a file defines; None without a file. Never raises: what is wrong with the code is wrong with nothing else."""
    if code is None:
        return None
    try:
        return OwnCode(code, frozenset(_names(_parsed(code).body)))
    except StethoscopeError as error:
        return OwnCode(code, frozenset(), str(error))


def _parsed(code: ModelFile) -> ast.Module:
    try:
        return ast.parse(source_of(code))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        where = f", line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        said = error.msg if isinstance(error, SyntaxError) else type(error).__name__
        raise UnreadableFile(
            f"{code.name}{where}: expected Python that defines the model's classes, got {said}. Give the .py file."
        ) from error


def _names(body: list[ast.stmt]) -> Iterator[str]:
    for statement in body:
        if isinstance(statement, _DEFINITIONS):
            yield statement.name
        elif isinstance(statement, ast.Assign):
            yield from (target.id for target in statement.targets if isinstance(target, ast.Name))
        elif isinstance(statement, ast.ImportFrom):
            yield from (name.asname or name.name for name in statement.names)
        elif isinstance(statement, _PARTS):
            yield from _names(statement.body)
            for handler in getattr(statement, "handlers", ()):
                yield from _names(handler.body)
            yield from _names(getattr(statement, "orelse", []))
