"""What a recipe is: one specimen, what it shows, and what must be true of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SEED = 20


@dataclass(frozen=True)
class Recipe:
    """How to build one sample model, and what the inspector must say about it.

    `build` writes into a folder and returns the model file. It imports its framework itself, so that recipes can be
    listed without one. `measure` opens the finished file with the runtime its format belongs to.
    """

    id: str
    title: str
    behaviour: str
    """One sentence: what the specimen shows."""
    description: str
    """A few sentences for the person who tries it: data, architecture, what to look at."""
    parameters: int
    """Weights of the model, trainable or not, without optimizer slots and shape constants."""
    build: Callable[[Path], Path]
    big: bool = False
    """Hundreds of megabytes: built on demand, never committed."""
    order: int = 50
    """Position in lists: the lower, the earlier."""
    data: str | None = None
    """A data file beside the model that fits its inputs."""
    fit: Mapping[str, Any] = field(default_factory=dict)
    """How it is trained: epochs, batch_size, validation_split …; filled into the form of the Diagnosis page."""
    findings: tuple[str, ...] = ()
    """Ids of checks it must raise."""
    expectations: Mapping[str, Any] = field(default_factory=dict)
    measure: Callable[[Path], Mapping[str, Any]] | None = None
