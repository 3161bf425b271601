"""`--code`: the Python file that defines a model's own classes, for each command that runs a model."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from contextvars import ContextVar
from pathlib import Path
from typing import Annotated, Any

import typer

from stethoscope.errors import UnreadableFile
from stethoscope.types import ModelFile

CodeOption = Annotated[
    Path | None,
    typer.Option(help="Python file that defines the model's own layers, losses, functions. It is run, contained."),
]
_given: ContextVar[Path | None] = ContextVar("_given", default=None)


def takes_code(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command with `--code`; whatever model it names has this file beside it."""
    own = inspect.signature(command, eval_str=True)

    @functools.wraps(command)
    def wrapped(*arguments: Any, code: Path | None = None, **options: Any) -> Any:
        token = _given.set(code)
        try:
            return command(*arguments, **options)
        finally:
            _given.reset(token)

    parameter = inspect.Parameter("code", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=CodeOption)
    keywords = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in own.parameters.values()]
    wrapped.__signature__ = own.replace(parameters=[*keywords, parameter])  # type: ignore[attr-defined]
    wrapped.__annotations__ = {name: one.annotation for name, one in own.parameters.items()} | {"code": CodeOption}
    return wrapped


def code_given() -> ModelFile | None:
    """The file of `--code` in the command under way; None without one.

    Raises:
        UnreadableFile: it is not there.
    """
    place = _given.get()
    if place is None:
        return None
    if not place.is_file():
        raise UnreadableFile(f"{place}: no such file. Check the path given for the code.")
    return ModelFile.at(place.resolve())
