"""Many small cases of one kind in one test: all of them run, and each that fails is told by its name."""

from __future__ import annotations

import functools
import inspect
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

import pytest


class Cases:
    """Use as `with Cases() as case:` around a loop, and `with case(name):` around what is asserted of one case."""

    def __init__(self) -> None:
        self._failed: list[str] = []
        self._count = 0

    def __enter__(self) -> Cases:
        return self

    @contextmanager
    def __call__(self, *name: Any) -> Iterator[None]:
        self._count += 1
        try:
            yield
        except (Exception, pytest.fail.Exception) as error:
            place = traceback.extract_tb(error.__traceback__)
            line = next((at.lineno for at in place[1:] if at.filename != __file__), None)
            told = " / ".join(str(part) for part in name)
            self._failed.append(f"{told}: line {line}: {type(error).__name__}: {error}")

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is None:
            assert self._count, "a table without a case proves nothing"
            if self._failed:
                pytest.fail(f"{len(self._failed)} of {self._count} cases:\n" + "\n".join(self._failed), pytrace=False)


def each(names: str | tuple[str, ...], values: Iterable[Any], **_: Any) -> Callable[[Callable[..., Any]], Any]:
    """Like `pytest.mark.parametrize` with the same arguments, but one test for all of them; `tmp_path` is each case's own."""
    asked = tuple(name.strip() for name in names.split(",")) if isinstance(names, str) else names
    table = [(value,) if len(asked) == 1 else tuple(value) for value in values]

    def folded(test: Callable[..., Any]) -> Any:
        signature = inspect.signature(test)
        shared = {"monkeypatch", "capsys", "caplog", "recwarn"} & set(signature.parameters)
        assert not shared, f"{test.__name__}: one case would see what the one before it left in {shared}"

        @functools.wraps(test)
        def every_case(**given: Any) -> None:
            folder = given.pop("tmp_path", None)
            with Cases() as case:
                for number, value in enumerate(table):
                    with case(*(_short(part) for part in value)):
                        if folder is not None:
                            given["tmp_path"] = folder / str(number)
                            given["tmp_path"].mkdir()
                        test(**given, **dict(zip(asked, value, strict=True)))

        left = [parameter for name, parameter in signature.parameters.items() if name not in asked]
        vars(every_case)["__signature__"] = signature.replace(parameters=left)
        return every_case

    return folded


def _short(value: Any) -> str:
    told = getattr(value, "__name__", None) or repr(value)
    return told if len(told) <= 80 else f"{told[:77]}…"
