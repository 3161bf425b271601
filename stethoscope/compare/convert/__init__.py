"""Conversions, one file per target, each defining CONVERTER. Run only in a worker: the frameworks are imported inside."""

from __future__ import annotations

import functools
import sys

from stethoscope.compare.convert.converter import Converter
from stethoscope.discover import discover
from stethoscope.errors import BadSetting


@functools.cache
def all_converters() -> dict[str, Converter]:
    """Every conversion by the id of its target, in the order in which they are offered."""
    found: dict[str, Converter] = discover(sys.modules[__name__], "CONVERTER", "id")
    return dict(sorted(found.items(), key=lambda item: item[1].place))


def converter_to(target: str) -> Converter:
    """The conversion to a target.

    Raises:
        BadSetting: there is no such target.
    """
    known = all_converters()
    if target not in known:
        raise BadSetting(f"Target {target!r}: expected one of {', '.join(known)}.")
    return known[target]
