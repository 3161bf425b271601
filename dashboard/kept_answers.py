"""Answers kept for the same thing: pages run again at every click, and thousands of layers take time each run."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable
from typing import Any, Concatenate, ParamSpec, TypeVar

from stethoscope.types import Architecture

Subject = TypeVar("Subject")
Answer = TypeVar("Answer")
Settings = ParamSpec("Settings")
_KEPT = 12
"""Subjects times settings: what a few people look at now."""


class _Same:
    """The very thing, compared by identity: its contents cannot be hashed, and comparing them takes as long as the work."""

    def __init__(self, thing: Any) -> None:
        self.thing = thing

    def __hash__(self) -> int:
        return id(self.thing)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.thing is other.thing


def kept(work: Callable[Concatenate[Subject, Settings], Answer]) -> Callable[Concatenate[Subject, Settings], Answer]:
    """Keeps what a pure function of one large thing and hashable settings answered last, for a few of them.

    The things are never changed after they were made: frozen dataclasses, and answers of jobs.
    """

    call: Callable[..., Answer] = work

    @functools.lru_cache(maxsize=_KEPT)
    def answers(*given: Hashable) -> Answer:
        return call(*(one.thing if isinstance(one, _Same) else one for one in given))

    def answer(thing: Subject, /, *settings: Settings.args, **named: Settings.kwargs) -> Answer:
        others = (*settings, *named.values())
        return answers(_Same(thing), *(_Same(one) if isinstance(one, Architecture) else one for one in others))

    return answer
