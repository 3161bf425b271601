"""Keras, TensorFlow and scipy as tests name them, imported when a test first uses them: collecting tests takes none."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from typing import Any

import pytest


class Later:
    """A module that is imported once something of it is asked for."""

    def __init__(self, name: str) -> None:
        self.__dict__["__name__"] = name

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("_"):  # pytest, which looks at all that a module of tests holds
            raise AttributeError(attribute)
        return getattr(importlib.import_module(self.__name__), attribute)

    def __setattr__(self, attribute: str, value: Any) -> None:
        # A test that replaces something in the module means the module, not what stands for it here.
        setattr(importlib.import_module(self.__name__), attribute, value)

    def __delattr__(self, attribute: str) -> None:
        delattr(importlib.import_module(self.__name__), attribute)


keras: Any = Later("keras")
layers: Any = Later("keras.layers")
tf: Any = Later("tensorflow")
tf_keras: Any = Later("tf_keras")
stats: Any = Later("scipy.stats")


def in_turn_in_both_kerases(cases: Iterable[str]) -> Iterator[Any]:
    """(package, case) of each case for `parametrize`: in Keras 3 and Keras 2 by turns; the other halves are a sweep."""
    for turn, case in enumerate(cases):
        for package in ("keras", "tf_keras"):
            now = (package == "keras") is (turn % 2 == 0)
            yield pytest.param(package, case, id=f"{case}-{package}", marks=() if now else pytest.mark.sweep)
