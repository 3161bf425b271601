"""One change of a layer that can be tried."""

from __future__ import annotations

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
    form: str = ""
    """An activation layer answers this function instead."""
