"""Numbers as people read them: KiB/MiB/GiB, ms/s, three significant digits, thousands separated."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Sequence

# Standing alone: digits inside a name or a version are not ours to change.
_NUMBER = re.compile(r"(?<![\w.\-])-?\d+(?:\.\d+(?:e[+-]?\d+)?|e[+-]?\d+)(?![\w\-]|\.\w)")
_SIZES = ("KiB", "MiB", "GiB", "TiB")


def significant(value: float, digits: int = 3) -> str:
    """Returns `value` with `digits` significant digits; NaN and infinities by name."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value == 0:
        return "0"
    magnitude = int(f"{value:.{digits - 1}e}".split("e")[1])  # after rounding: 999.96 is 1,000
    if magnitude < -4 or magnitude > 9:
        mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
        return f"{mantissa}e{int(exponent)}".replace("-", "−")
    return f"{value:,.{max(0, digits - 1 - magnitude)}f}".replace("-", "−")


def given(value: float) -> str:
    """A number that somebody set, as they would write it: 0.002, 1e−5, 8,192."""
    if not math.isfinite(value):
        return significant(value)
    text = f"{value:,}" if isinstance(value, int) else f"{value:.6g}"
    mantissa, found, exponent = text.partition("e")
    return (f"{mantissa}e{int(exponent)}" if found else text).replace("-", "−")


def readable(text: str) -> str:
    """A sentence of a worker with its numbers at most 6 digits long and exponents as elsewhere: 1e-05 becomes 1e−5."""
    return _NUMBER.sub(lambda match: given(float(match.group())), text)


def size(value: float) -> str:
    """Bytes as B, KiB, MiB, GiB or TiB."""
    if abs(value) < 1024:
        return f"{int(value):,} B"
    scaled = float(value)
    for unit in _SIZES:
        scaled /= 1024
        if abs(scaled) < 999.5 or unit == _SIZES[-1]:
            return f"{significant(scaled)} {unit}"
    raise AssertionError("the last unit takes everything")


def operations(value: float) -> str:
    """Floating-point operations as FLOP, kFLOP, MFLOP, GFLOP, TFLOP or PFLOP."""
    scaled = float(value)
    for unit in ("", "k", "M", "G", "T"):
        if abs(scaled) < 999.5:
            return f"{significant(scaled) if unit else f'{scaled:.0f}'} {unit}FLOP"
        scaled /= 1000
    return f"{significant(scaled)} PFLOP"


def duration(seconds: float) -> str:
    """Seconds as µs, ms, s, min or h."""
    if seconds < 0.9995e-3:
        return f"{significant(seconds * 1e6)} µs"
    if seconds < 0.9995:
        return f"{significant(seconds * 1e3)} ms"
    if seconds < 59.95:
        return f"{significant(seconds)} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def count(value: int) -> str:
    """A whole number with its thousands separated."""
    return f"{value:,}"


def plural(value: int, singular: str, several: str = "") -> str:
    """A count with its noun: "1 layer", "2,000 layers"."""
    return f"{value:,} {singular if value == 1 else several or singular + 's'}"


def shape(value: Sequence[int | None] | None) -> str:
    """A tensor shape: a dynamic first dimension is the batch, others are "?"."""
    if value is None:
        return "unknown"
    if not value:
        return "scalar"
    parts = ["?" if size is None else f"{size:,}" for size in value]
    if value[0] is None:
        parts[0] = "batch"
    return " × ".join(parts)


def share(part: float, whole: float) -> str:
    """`part` of `whole` in per cent."""
    if whole <= 0:
        return "0 %"
    percent = 100 * part / whole
    return "< 0.1 %" if 0 < percent < 0.1 else f"{significant(percent)} %"


def difference(value: float | str | None) -> str:
    """The largest absolute difference between two tensors; workers send NaN and infinities by name."""
    if value is None:
        return "—"
    number = float(value)
    return "identical" if number == 0 else significant(number)


def ago(then_s: float, now_s: float | None = None) -> str:
    """How long ago a Unix time was, roughly."""
    seconds = max(0.0, (time.time() if now_s is None else now_s) - then_s)
    for step, noun in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= step:
            return f"{plural(int(seconds // step), noun)} ago"
    return "just now"
