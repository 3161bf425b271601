"""P-values by drawing: as many draws as it takes to know, exact although it ends early."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt


def drawn_p_value(reaches: Callable[[int], npt.NDArray[np.bool_]], most: int, at_once: int, enough: int) -> float:
    """The p-value of a statistic against its distribution under exchange of the sides.

    Args:
        reaches: makes so many draws, and says of each whether it reaches the statistic.
        most: draws at most; the smallest p-value there can be is one in so many and one.
        at_once: draws of one call.
        enough: drawing ends once so many reach it.

    Source: Besag and Clifford, "Sequential Monte Carlo p-values", Biometrika 78 (1991).
    """
    reached = drawn = 0
    while drawn < most:
        above = reaches(min(at_once, most - drawn))
        if reached + int(above.sum()) >= enough:
            last = int(np.flatnonzero(above)[enough - reached - 1])
            return enough / (drawn + last + 1)
        reached, drawn = reached + int(above.sum()), drawn + len(above)
    return (1 + reached) / (1 + drawn)
