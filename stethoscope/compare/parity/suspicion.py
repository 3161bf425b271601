"""One change of a layer that can be tried: told whole, or but for a number that is estimated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Suspicion:
    """One change of a layer."""

    cause: str
    title: str
    told: str
    """What the layer does then, to follow its name."""
    fix: str
    settings: dict[str, Any] = field(default_factory=dict)
    weights: dict[str, npt.NDArray[np.float64]] = field(default_factory=dict)
    function: Callable[[npt.NDArray[np.float64]], npt.NDArray[np.float64]] | None = None
    """An activation layer answers this of what it reads instead."""


@dataclass(frozen=True)
class Estimate:
    """A change by a number that nothing tells beforehand: least squares find it."""

    of: Callable[[float], Suspicion]
    """The change for a number."""
    starts: tuple[float, ...]
    """Numbers to begin at; the first is what the layer has now."""
    low: float = -np.inf
    """Below it there is no such layer."""
