"""What one row holds, with small files: a picture, a curve, a sound, a text, a number for each field.

Long signals made short without losing a peak, and sounds as WAV files that a browser plays.
"""

from __future__ import annotations

import io
import math
import wave
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.data.dataset import DataField
from stethoscope.data.view.marks import Picture, Scale, channels_last, drawn_channels, is_drawable, picture
from stethoscope.data.view.shown import (
    FieldScale,
    Shown,
    ShownArray,
    ShownCurve,
    ShownNumber,
    ShownPicture,
    ShownSound,
    ShownText,
)

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


Array = npt.NDArray[Any]
CARD_TEXT, FULL_TEXT = 600, 200_000
CARD_STEPS, FULL_STEPS = 160, 2_000
CARD_SOUND_S, FULL_SOUND_S = 12.0, 600.0
MOST_NUMBERS = 64
MOST_CURVES = 4
_CURVE_FROM = 8
"""A row of fewer numbers is told, not drawn."""
_LEAST_SIDE = 4


@dataclass
class Values:
    """Turns the values of rows into what is shown of them.

    Attributes:
        longest_px: of a picture's longer side.
        full: whether one row is shown large, with all it holds.
        keep: writes a file and returns its name.
        scales: which value is black and which white, by field; the same for every row.
    """

    longest_px: int
    full: bool
    keep: Callable[[str, bytes], str]
    keep_array: Callable[[str, Array], str]
    scales: dict[str, Scale] = field(default_factory=dict)

    def learn(self, fields: Sequence[DataField], rows: Sequence[Mapping[str, Array]]) -> None:
        """Finds the scale of each field that is drawn, from all rows that will be."""
        for one in fields:
            arrays = [row[one.name] for row in rows if one.name in row and self._drawn(one, row[one.name])]
            if arrays:
                self.scales[one.name] = Scale.of(arrays)

    def unusual_scales(self) -> tuple[FieldScale, ...]:
        """Which value is black and which white, where that is not what everybody takes it for."""
        return tuple(
            FieldScale(name, scale.low, scale.high, scale.broken)
            for name, scale in self.scales.items()
            if not scale.usual
        )

    def of(self, one: DataField, value: Array, stem: str, *, drawn: bool = True) -> Shown:
        """One value, with its files, whose names begin with `stem`; without `drawn` no curve and no sound."""
        about: dict[str, Any] = {
            "field": one.name,
            "kind": one.kind,
            "role": one.role,
            "unit": one.unit,
            "shape": value.shape,
            "dtype": "string" if value.dtype.kind in "OSU" else str(value.dtype),
            **_ends(value),
        }
        if value.dtype.kind in "OSU":
            return self._text(value, about)
        if self._drawn(one, value):
            made = self.picture(one.name, value)
            return ShownPicture(
                **about,
                file=self.keep(f"{stem}.png", made.png),
                width=made.width,
                height=made.height,
                channels=drawn_channels(channels_last(value)),
            )
        sound = one.kind == "audio" and value.ndim in (1, 2)
        if sound or self._curve(one, value):
            if not drawn:
                return ShownArray(**about)
            about |= self._signal(value, stem)
            return self._sound(one, value, stem, about) if sound else ShownCurve(**about)
        if value.size == 1:
            return ShownNumber(**about, number=_plain(value.reshape(-1)[0]))
        left_out = max(0, value.size - MOST_NUMBERS)
        return ShownText(**about, look="numbers", text=_numbers(value), left_out=left_out)

    def picture(self, name: str, value: Array) -> Picture:
        """Draws a value on its field's scale."""
        scale = self.scales.get(name) or Scale.of([value])
        return picture(channels_last(value), self.longest_px, scale)

    @staticmethod
    def _drawn(one: DataField, value: Array) -> bool:
        if one.kind in ("image", "mask"):
            return is_drawable(value)
        plane = value.shape[:2] if value.ndim == 2 else ()
        return one.kind == "array" and bool(plane) and min(plane) >= _LEAST_SIDE and is_drawable(value)

    @staticmethod
    def _curve(one: DataField, value: Array) -> bool:
        many = value.ndim in (1, 2) and len(value) >= _CURVE_FROM and value.dtype.kind in "biuf"
        return many and one.kind in ("sequence", "array", "number")

    def _text(self, value: Array, about: dict[str, Any]) -> ShownText:
        limit = FULL_TEXT if self.full else CARD_TEXT
        if value.ndim == 0:
            text = str(value.item().decode("utf-8", "replace") if isinstance(value.item(), bytes) else value.item())
        else:
            text = ", ".join(str(item) for item in value.reshape(-1)[:MOST_NUMBERS].tolist())
        return ShownText(**about, look="text", text=text[:limit], left_out=max(0, len(text) - limit))

    def _signal(self, value: Array, stem: str) -> dict[str, Any]:
        made = envelope(value, FULL_STEPS if self.full else CARD_STEPS)
        channels = int(np.prod(value.shape[1:], dtype=np.int64)) if value.ndim > 1 else 1
        return {
            "file": self.keep_array(stem, made),
            "steps": len(value),
            "channels": channels,
            "drawn_channels": int(made.shape[0]),
        }

    def _sound(self, one: DataField, value: Array, stem: str, about: dict[str, Any]) -> ShownSound:
        rate = one.details.get("sample_rate_hz")
        hertz = int(rate) if isinstance(rate, int | float) and 0 < rate < 1e6 else 16_000
        seconds = len(value) / hertz
        if not len(value):
            return ShownSound(**about, sample_rate_hz=hertz, seconds=seconds)
        most = FULL_SOUND_S if self.full else CARD_SOUND_S
        return ShownSound(
            **about,
            sample_rate_hz=hertz,
            seconds=seconds,
            sound=self.keep(f"{stem}.wav", wav(value, hertz, most)),
            sound_s=min(most, seconds),
        )


def _ends(value: Array) -> dict[str, Any]:
    if value.dtype.kind not in "biuf" or not value.size:
        return {}
    finite = value[np.isfinite(value)] if value.dtype.kind == "f" else value
    broken = {"nonfinite": int(value.size - finite.size)}
    return broken | ({"min": finite.min().item(), "max": finite.max().item()} if finite.size else {})


def _plain(value: Any) -> Any:
    """A number as JSON can hold it; NaN and infinities by name."""
    item = value.item() if hasattr(value, "item") else value
    if isinstance(item, complex):
        return str(item)
    return str(item) if isinstance(item, float) and not math.isfinite(item) else item


def _numbers(value: Array) -> str:
    shown = value.reshape(-1)[:MOST_NUMBERS].tolist()
    return ", ".join(f"{item:.4g}" if isinstance(item, float) else str(item) for item in shown)
