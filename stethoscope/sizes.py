"""Sizes of memory as people write and read them."""

from __future__ import annotations

import re

from stethoscope.errors import BadSetting

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?", re.IGNORECASE)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


def parse_size(text: str) -> int:
    """Returns "2GB", "512 MiB" or "1000000" in bytes; GB is 10⁹, GiB is 2³⁰.

    Raises:
        BadSetting: not a size.
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise BadSetting(f"Size {text!r}: expected a number with a unit, for example 512MB or 2GiB.")
    size = int(float(match[1]) * (1024 if match[3] else 1000) ** _POWERS[match[2].lower()])
    if size <= 0:
        raise BadSetting(f"Size {text!r}: expected more than 0 bytes.")
    return size


def human_bytes(size: float) -> str:
    """Returns `size` in bytes, KiB, MiB, GiB or TiB with three significant digits."""
    for unit in ("bytes", "KiB", "MiB", "GiB", "TiB"):
        if abs(size) < 1024 or unit == "TiB":
            break
        size /= 1024
    return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.3g} {unit}" if size < 1000 else f"{size:,.0f} {unit}"
