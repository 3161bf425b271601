"""`--code`: the Python file that defines a model's own classes, for each command that runs a model."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from stethoscope.cli.given import code_path

CodeOption = Annotated[
    Path | None,
    typer.Option(help="Python file that defines the model's own layers, losses, functions. It is run, contained."),
]


def takes_code(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command with `--code`; whatever model it names has this file beside it."""
    own = inspect.signature(command, eval_str=True)

    @functools.wraps(command)
    def wrapped(*arguments: Any, code: Path | None = None, **options: Any) -> Any:
        token = code_path.set(code)
        try:
            return command(*arguments, **options)
        finally:
            code_path.reset(token)

    parameter = inspect.Parameter("code", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=CodeOption)
    keywords = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in own.parameters.values()]
    wrapped.__signature__ = own.replace(parameters=[*keywords, parameter])  # type: ignore[attr-defined]
    wrapped.__annotations__ = {name: one.annotation for name, one in own.parameters.items()} | {"code": CodeOption}
    return wrapped
