"""What a planted fault is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Plant:
    """One fault."""

    id: str
    script: str
    changes: tuple[tuple[str, str], ...]
    marks: tuple[str, ...]
    """Text of the lines that may be named."""


def one(name: str, script: str, old: str, new: str, *marks: str) -> Plant:
    """A fault that is one replacement; the lines that hold `marks` may be named, else the first of what is new."""
    return Plant(name, script, ((old, new),), marks or (new.strip().split("\n")[0],))
