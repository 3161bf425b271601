"""Long signals made short without losing a peak, and sounds as WAV files that a browser plays."""

from __future__ import annotations

import io
import wave
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
MOST_CHANNELS = 8
_INT16 = 32_767


def envelope(signal: Array, most: int) -> npt.NDArray[np.float32]:
    """The smallest and the largest value of each stretch of a signal.

    Args:
        signal: (time,) or (time, channels) numbers.
        most: stretches; a shorter signal keeps its own values.

    Returns:
        (channels, 2, stretches) float32, at most `MOST_CHANNELS` channels: the lowest, then the highest value. NaN where a
        stretch has no finite value.
    """
    table = signal.reshape(len(signal), -1)[:, :MOST_CHANNELS]
    steps = max(1, min(most, len(table)))
    edges = np.linspace(0, len(table), steps + 1).astype(np.int64)[:-1]
    if not len(table):
        return np.empty((table.shape[1], 2, 0), np.float32)
    values = table.astype(np.float64)
    finite = np.isfinite(values)
    low = np.minimum.reduceat(np.where(finite, values, np.inf), edges, axis=0)
    high = np.maximum.reduceat(np.where(finite, values, -np.inf), edges, axis=0)
    empty = low > high
    both = np.stack([np.where(empty, np.nan, low), np.where(empty, np.nan, high)])
    with np.errstate(over="ignore"):  # beyond what 32 bits hold it is drawn as infinite
        made: npt.NDArray[np.float32] = both.transpose(2, 0, 1).astype(np.float32)
    return made


def wav(sound: Array, rate_hz: int, most_s: float) -> bytes:
    """A WAV file of 16 bits with the first seconds of a sound.

    Args:
        sound: (time,) or (time, channels): floats of −1 … 1, or whole numbers over the range of their type. Of more than two
            channels the first two are kept.
        rate_hz: samples a second.
        most_s: how many seconds at most.
    """
    part = sound.reshape(len(sound), -1)[: max(1, int(most_s * rate_hz)), :2]
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(max(1, part.shape[1]))
        file.setsampwidth(2)
        file.setframerate(max(1, int(rate_hz)))
        file.writeframes(_int16(part).tobytes())
    return out.getvalue()


def _int16(sound: Array) -> npt.NDArray[np.int16]:
    if sound.dtype == np.int16:
        return np.ascontiguousarray(sound)
    if sound.dtype.kind in "iu":
        facts = np.iinfo(sound.dtype)
        middle = (facts.max + 1) / 2 if sound.dtype.kind == "u" else 0.0
        span = (float(facts.max) - middle + 1) or 1.0
        level = (sound.astype(np.float64) - middle) / span
    else:
        level = np.nan_to_num(sound.astype(np.float64), nan=0.0, posinf=1.0, neginf=-1.0)
    made: npt.NDArray[np.int16] = np.ascontiguousarray(np.rint(np.clip(level, -1, 1) * _INT16).astype("<i2"))
    return made
