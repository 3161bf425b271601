"""Parts of a page that run by themselves, each in a container of its own.

When a fragment runs again while messages of the last run of the page still wait to be sent, Streamlit drops those of
the fragment and keeps the others. What came after it on the page then arrives first, has no place yet, and the page
ends in "Bad delta path index". Alone in a container, a fragment has nothing that comes after it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import streamlit as st

P = ParamSpec("P")
R = TypeVar("R")


def part(run_every: float | None = None) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorates a function that draws: what is used in it runs it alone, and so does time, every so many seconds."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        alone = st.fragment(function, run_every=run_every)

        @functools.wraps(function)
        def draw(*args: P.args, **kwargs: P.kwargs) -> R:
            with st.container():
                return alone(*args, **kwargs)

        return draw

    return decorate
