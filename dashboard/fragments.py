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

from dashboard import rerun

P = ParamSpec("P")
R = TypeVar("R")
REFRESH_S = 0.7


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


def moving(
    drawn: object, look: Callable[[], object], draw: Callable[[], object] | None = None, every_s: float = REFRESH_S
) -> None:
    """What moves by itself while the page stands still, until there is news: then the page runs once more.

    Args:
        drawn: what the page has drawn.
        look: what there is now; another value is news. Asked at each refresh, so it reads from memory.
        draw: draws what moves, a progress line for instance.
        every_s: seconds between two refreshes.
    """

    @part(run_every=every_s)
    def line() -> None:
        if look() != drawn:
            rerun.whole_page()
        if draw is not None:
            draw()

    line()
