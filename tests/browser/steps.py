"""The steps of a journey: where one fails, its report names the step."""

from __future__ import annotations

_taken: list[str] = []


def step(what: str) -> None:
    """Begins the next step of the journey under way; says what is to be seen in it."""
    _taken.append(what)


def begin() -> None:
    """Forgets the journey before."""
    _taken.clear()


def last() -> str:
    """Where the journey under way stands; empty before its first step."""
    return f"step {len(_taken)}: {_taken[-1]}" if _taken else ""
