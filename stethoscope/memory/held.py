"""What a process holds between calls: resident pages, bytes in use in the C heap, and bytes on a card. Used in a worker.

The kernel's number moves by pages, and stays up after memory was freed; the heap's is exact but knows nothing of small
Python objects. TensorFlow's tensors on a CPU are in the heap. Source: mallinfo(3) of glibc ≥ 2.33; proc(5); tf.config.experimental.get_memory_info.

The slope of a noisy series, with a confidence interval that one jump or one outlier does not move.

Source: Theil (1950); Sen, “Estimates of the regression coefficient based on Kendall's tau”, JASA 63 (1968): the median of
all pairwise slopes, its interval from the variance of Kendall's S (with ties); Hamed and Rao, J. Hydrology 204 (1998) and
Yue and Wang (2004): that variance is too small for a series that remembers its past, and is widened by (1 + ρ) / (1 − ρ).
"""

from __future__ import annotations

import ctypes
import gc
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from stethoscope.errors import BadInput
from stethoscope.memory.run_settings import give_back
from stethoscope.task import MemoryMeter

if TYPE_CHECKING:
    import numpy.typing as npt


_FIELDS = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"


class _HeapInfo(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_size_t) for name in _FIELDS.split())


@dataclass(frozen=True)
class Held:
    """Bytes held at one moment; None where this system cannot tell."""

    resident_bytes: int
    heap_bytes: int | None
    device_bytes: int | None


class Holdings:
    """Reads what is held. Garbage is collected before each reading, so that only what is reachable counts."""

    def __init__(self, meter: MemoryMeter, device: str = "") -> None:
        """Takes the job's meter, and the name of a card ("GPU:0") where the model runs on one."""
        self._meter, self._device = meter, device
        self._heap = _heap_reader()

    def settle(self) -> None:
        """Sets everything that exists now aside, which makes collecting fast and leaves only what comes later."""
        gc.collect()
        give_back()
        gc.freeze()

    def read(self) -> Held:
        """What is held now."""
        gc.collect()
        return Held(
            self._meter.added_bytes(),
            None if self._heap is None else self._heap(),
            _on_device(self._device) if self._device else None,
        )

    def release(self) -> None:
        """Undoes `settle`."""
        gc.unfreeze()


def _heap_reader() -> Callable[[], int] | None:
    info = getattr(ctypes.CDLL(None), "mallinfo2", None)
    if info is None:
        return None
    info.restype = _HeapInfo

    def read() -> int:
        found = info()
        return int(found.uordblks + found.hblkhd)

    return read


def card() -> str:
    """The first card TensorFlow runs on in this process, as a device's name; "" where it runs on the CPU."""
    import tensorflow as tf

    return "GPU:0" if tf.config.list_logical_devices("GPU") else ""


def _on_device(device: str) -> int | None:
    import tensorflow as tf

    try:
        return int(tf.config.experimental.get_memory_info(device)["current"])
    except (ValueError, KeyError, RuntimeError):
        return None


MOST_POINTS = 600
"""A longer series is averaged in equal blocks first: there are n²/2 pairs."""
_MOST_MEMORY = 0.9
"""The largest autocorrelation counted: at 1 no number of points would say anything."""


@dataclass(frozen=True)
class Slope:
    """How much a series grows per step. `low` … `high` is the confidence interval."""

    per_step: float
    low: float
    high: float
    confidence: float
    points: int

    def per(self, steps: float) -> Slope:
        """The slope per smaller step, of which there are so many in one."""
        return replace(self, per_step=self.per_step / steps, low=self.low / steps, high=self.high / steps)


def slope(values: Sequence[float], confidence: float = 0.95) -> Slope:
    """Returns the Theil–Sen slope of `values` against 0, 1, 2, ….

    Args:
        values: at least 3 finite numbers, one per step.
        confidence: of the interval, between 0 and 1.

    Raises:
        BadInput: fewer than 3 values.
    """
    import numpy as np

    given = np.asarray(values, dtype=np.float64)
    if given.size < 3:
        raise BadInput(f"A slope: expected at least 3 values, got {given.size}. Measure for longer.")
    block = math.ceil(given.size / MOST_POINTS)
    whole = given[: given.size // block * block].reshape(-1, block).mean(axis=1)
    count = whole.size
    first, second = np.triu_indices(count, 1)
    slopes = np.sort((whole[second] - whole[first]) / (second - first))
    middle = float(np.median(slopes))
    variance = _kendall_variance(whole) * _memory(whole - middle * np.arange(count))
    reach = NormalDist().inv_cdf(0.5 + confidence / 2) * math.sqrt(variance)
    low = max(0, math.floor((slopes.size - reach) / 2))
    high = min(slopes.size - 1, math.ceil((slopes.size + reach) / 2))
    return Slope(middle / block, float(slopes[low]) / block, float(slopes[high]) / block, confidence, int(given.size))


def _kendall_variance(values: npt.NDArray[Any]) -> float:
    import numpy as np

    n = values.size
    _, ties = np.unique(values, return_counts=True)
    return float(n * (n - 1) * (2 * n + 5) - (ties * (ties - 1) * (2 * ties + 5)).sum()) / 18


def _memory(residuals: npt.NDArray[Any]) -> float:
    """By how much the variance grows because neighbours resemble each other."""
    centred = residuals - residuals.mean()
    power = float((centred**2).sum())
    if power == 0:
        return 1.0
    correlation = min(_MOST_MEMORY, max(0.0, float((centred[1:] * centred[:-1]).sum()) / power))
    return (1 + correlation) / (1 - correlation)
