"""One thing of each of two models that are compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class OfBoth(Generic[T]):
    """What it is of the first model, and what of the other."""

    a: T
    b: T
