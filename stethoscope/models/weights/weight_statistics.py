"""Statistics of a tensor that is read in pieces: moments, extremes, zeros, norm and a histogram, in bounded memory."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from stethoscope.models.model_format import Pieces

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

BINS = 64


@dataclass(frozen=True)
class WeightStatistics:
    """Of one tensor. Moments, extremes, zeros and norm are over finite values; None where there are none.

    Attributes:
        count: all values.
        mean, std: arithmetic mean and population standard deviation.
        zero_fraction: exact zeros among all values.
        nonfinite: how many are NaN or infinite.
        norm: Euclidean, √Σx².
        edges, counts: histogram of equal bins between min and max.
    """

    count: int
    mean: float | None
    std: float | None
    min: float | None
    max: float | None
    zero_fraction: float
    nonfinite: int
    norm: float
    edges: tuple[float, ...]
    counts: tuple[int, ...]


def statistics(pieces: Pieces) -> WeightStatistics:
    """Reads a tensor twice: for its moments, then for the histogram between its extremes.

    Means and squares of pieces are merged pairwise, in float64.
    Source: Chan, Golub, LeVeque: "Updating Formulae and a Pairwise Algorithm for Computing Sample Variances", 1979.
    """
    import numpy as np

    count = finite = zeros = 0
    mean = deviations = squares = 0.0
    low, high = math.inf, -math.inf
    for piece in pieces():
        values = real(piece)
        count += values.size
        zeros += int(np.count_nonzero(values == 0))
        kept = _finite(values)
        if not kept.size:
            continue
        here = float(kept.mean())
        difference, total = here - mean, finite + kept.size
        apart = kept - here
        deviations += float(apart @ apart) + difference**2 * finite * kept.size / total
        mean += difference * kept.size / total
        finite = total
        with np.errstate(over="ignore"):
            squares += float(kept @ kept)
        low, high = min(low, float(kept.min())), max(high, float(kept.max()))
    known = finite > 0
    edges, counts = _histogram(pieces, low, high) if known else ((), ())
    return WeightStatistics(
        count=count,
        mean=mean if known else None,
        std=math.sqrt(max(0.0, deviations / finite)) if known else None,
        min=low if known else None,
        max=high if known else None,
        zero_fraction=zeros / count if count else 0.0,
        nonfinite=count - finite,
        norm=math.sqrt(squares),
        edges=edges,
        counts=counts,
    )


def _histogram(pieces: Pieces, low: float, high: float) -> tuple[tuple[float, ...], tuple[int, ...]]:
    import numpy as np

    if low == high:
        margin = abs(low) * 0.5 or 0.5
        low, high = low - margin, high + margin
    if not math.isfinite(high - low):
        return (), ()
    edges = np.linspace(low, high, BINS + 1)
    counts = np.zeros(BINS, np.int64)
    for piece in pieces():
        values = real(piece)
        counts += np.histogram(_finite(values), BINS, (low, high))[0]
    return tuple(edges.tolist()), tuple(counts.tolist())


def _finite(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    import numpy as np

    kept = np.isfinite(values)
    return values if kept.all() else values[kept]


def real(piece: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Values as float64; of complex ones the magnitude."""
    import numpy as np

    return (np.abs(piece) if piece.dtype.kind == "c" else piece).astype(np.float64)


@dataclass(frozen=True)
class Difference:
    """Two tensors of one shape: their norms and that of what they differ by, in all values that are finite in both."""

    norm_a: float
    norm_b: float
    norm_of_difference: float

    @property
    def relative(self) -> float:
        """‖a − b‖ over the larger norm; 0 where both are zero."""
        largest = max(self.norm_a, self.norm_b)
        return self.norm_of_difference / largest if largest else 0.0


def difference(pairs: Iterable[tuple[npt.NDArray[Any], npt.NDArray[Any]]]) -> Difference:
    """Adds up pieces of two tensors, read side by side."""
    import numpy as np

    a = b = apart = 0.0
    for first, second in pairs:
        left, right = real(first).ravel(), real(second).ravel()
        both = np.isfinite(left) & np.isfinite(right)
        if not both.all():
            left, right = left[both], right[both]
        a, b = a + float(left @ left), b + float(right @ right)
        left = left - right
        apart += float(left @ left)
    return Difference(math.sqrt(a), math.sqrt(b), math.sqrt(apart))
