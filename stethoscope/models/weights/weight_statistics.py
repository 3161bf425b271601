"""Statistics of a tensor that is read in pieces: moments, extremes, zeros, norm and a histogram, in bounded memory.

How far the weights of two layers lie apart, both read in pieces side by side.

The weights in a file, read piece by piece.
"""

from __future__ import annotations

import itertools
import math
import mmap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from stethoscope.models.model_format import Pieces, StoredWeight, WeightsByLayer
from stethoscope.types import ModelFile

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


_MOST_TURNED = 32 << 20
"""Values of a tensor that is held whole, to compare it in another order of its axes."""


@dataclass(frozen=True)
class LayerDifference:
    """All tensors of two layers: the difference of those with a counterpart, and which have none (name, shape a, shape b)."""

    together: Difference | None
    unlike: tuple[tuple[str, tuple[int, ...] | None, tuple[int, ...] | None], ...]
    compared: int = 0


def weights_apart(first: Sequence[StoredWeight], second: Sequence[StoredWeight]) -> LayerDifference:
    """Pairs tensors by name and shape, then by shape, then by the same sizes in another order (a transposed kernel)."""
    spare = [weight for weight in second if not weight.unreadable]
    found: list[Difference] = []
    unlike: list[tuple[str, tuple[int, ...] | None, tuple[int, ...] | None]] = []
    for weight in first:
        if weight.unreadable:
            continue
        other = _partner(weight, spare)
        if other is None:
            unlike.append((weight.name, weight.shape, None))
            continue
        spare.remove(other)
        if _squeezed(other) == _squeezed(weight):
            found.append(difference(side_by_side(weight.pieces, other.pieces)))
        elif weight.count <= _MOST_TURNED:
            found.append(_turned(weight, other))
        else:
            unlike.append((weight.name, weight.shape, other.shape))
    unlike += [(weight.name, None, weight.shape) for weight in spare]
    return LayerDifference(_together(found), tuple(unlike), len(found))


def _partner(weight: StoredWeight, spare: Sequence[StoredWeight]) -> StoredWeight | None:
    named = [other for other in spare if other.name == weight.name and other.shape == weight.shape]
    alike = [other for other in spare if other.shape == weight.shape]
    squeezed = [other for other in spare if _squeezed(other) == _squeezed(weight)]
    turned = [other for other in spare if sorted(_squeezed(other)) == sorted(_squeezed(weight))]
    return next(iter([*named, *alike, *squeezed, *turned]), None)


def _squeezed(weight: StoredWeight) -> tuple[int, ...]:
    return tuple(size for size in weight.shape if size != 1)


def _turned(weight: StoredWeight, other: StoredWeight) -> Difference:
    """Of the orders of axes that fit, the one that brings both nearest: formats order a kernel's axes differently."""
    import numpy as np

    left = np.concatenate([piece.ravel() for piece in weight.pieces()]).reshape(_squeezed(weight))
    right = np.concatenate([piece.ravel() for piece in other.pieces()]).reshape(_squeezed(other))
    orders = [
        order
        for order in itertools.permutations(range(right.ndim))
        if tuple(right.shape[axis] for axis in order) == left.shape
    ]
    return min(
        (difference([(left, right.transpose(order))]) for order in orders[:24]),
        key=lambda item: item.norm_of_difference,
    )


def _together(found: Sequence[Difference]) -> Difference | None:
    if not found:
        return None
    return Difference(
        math.hypot(*(item.norm_a for item in found)),
        math.hypot(*(item.norm_b for item in found)),
        math.hypot(*(item.norm_of_difference for item in found)),
    )


def side_by_side(first: Pieces, second: Pieces) -> Iterator[tuple[npt.NDArray[Any], npt.NDArray[Any]]]:
    """Yields pieces of two tensors of the same size, cut to the same lengths."""
    left, right = iter(first()), iter(second())
    a, b = next(left, None), next(right, None)
    while a is not None and b is not None:
        size = min(a.size, b.size)
        if size:
            yield a[:size], b[:size]
        a = a[size:] if size < a.size else next(left, None)
        b = b[size:] if b.size > size else next(right, None)


_PIECES_HELD = 8
CHUNK_VALUES = 1 << 20
"""Values read at a time: 8 MiB as float64."""


@contextmanager
def opened(file: ModelFile) -> Iterator[WeightsByLayer]:
    """Yields the weights of every layer; none is read before its `pieces` are asked for.

    Raises:
        UnreadableFile, UnsafeFile, TooLarge: as `Format.describe`.
    """
    from stethoscope.models.formats import detect

    with detect(file).weights(file) as found:
        yield found


def buffer_pieces(view: memoryview, begin: int, dtype: str, count: int) -> Pieces:
    """Reads plain little-endian values of a buffer from byte `begin`; bfloat16 is widened, 4-bit integers are unpacked.

    Pieces are copies: an array on mapped memory would keep the file from being unmapped.
    """

    def part(start: int, stop: int) -> bytes:
        return bytes(view[begin + start : begin + stop])

    def read() -> Iterator[npt.NDArray[Any]]:
        import numpy as np

        for number, start in enumerate(range(0, count, CHUNK_VALUES)):
            stop = min(count, start + CHUNK_VALUES)
            if number % _PIECES_HELD == _PIECES_HELD - 1:
                _let_go(view)
            if dtype == "bfloat16":
                raw = np.frombuffer(part(2 * start, 2 * stop), "<u2")
                yield (raw.astype("<u4") << 16).view("<f4")
            elif dtype in ("int4", "uint4"):
                packed = np.frombuffer(part(start // 2, (stop + 1) // 2), np.uint8)
                nibbles = np.stack([packed & 15, packed >> 4], -1).ravel()[: stop - start].astype(np.int8)
                yield np.where(nibbles > 7, nibbles - 16, nibbles) if dtype == "int4" else nibbles
            else:
                kind = np.dtype(_NUMPY.get(dtype, dtype)).newbyteorder("<")
                yield np.frombuffer(part(start * kind.itemsize, stop * kind.itemsize), kind)

    return read


_NUMPY = {"qint8": "int8", "quint8": "uint8", "qint16": "int16", "quint16": "uint16", "qint32": "int32"}
_READ = (
    "float16 float32 float64 bfloat16 int8 uint8 int16 uint16 int32 uint32 int64 uint64 bool complex64 complex128 int4 uint4 "
    "qint8 quint8 qint16 quint16 qint32"
)
PLAIN = frozenset(_READ.split())
"""Dtypes that `buffer_pieces` reads."""


def _let_go(view: memoryview) -> None:
    """Gives back the memory of mapped pages that were read: they are the file's own and come back when asked for."""
    held = view.obj
    if isinstance(held, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        held.madvise(mmap.MADV_DONTNEED)


def array_pieces(values: npt.NDArray[Any]) -> Pieces:
    """Pieces of an array that is in memory."""

    def read() -> Iterator[npt.NDArray[Any]]:
        flat = values.reshape(-1)
        for start in range(0, flat.size, CHUNK_VALUES):
            yield flat[start : start + CHUNK_VALUES]

    return read


def no_pieces() -> Iterator[npt.NDArray[Any]]:
    """Of a weight that cannot be read."""
    yield from ()
