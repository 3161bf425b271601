"""Fixes, by what they change: each prints as code to copy and can be applied to a copy of the training. A module defines FIX, or FIXES."""

from __future__ import annotations

import functools
import sys
from collections.abc import Mapping
from typing import Any

from stethoscope.checks.fixes.fix import Fix
from stethoscope.discover import discover
from stethoscope.errors import StethoscopeError

__all__ = ["Fix", "all_fixes", "fix_from_json"]


@functools.cache
def all_fixes() -> dict[str, type[Fix]]:
    """Every kind of fix by its name. A module defines FIX, its class."""
    return discover(sys.modules[__name__], "FIX", "kind")


def fix_from_json(value: Mapping[str, Any]) -> Fix:
    """The inverse of `Fix.to_json`; parameters are validated by type.

    Raises:
        StethoscopeError: unknown kind or wrong parameters.
    """
    kind = all_fixes().get(str(value.get("kind")))
    if kind is None:
        raise StethoscopeError(f"Fix: expected one of {sorted(all_fixes())}, got {value.get('kind')!r}.")
    params = value.get("params") or {}
    if not isinstance(params, Mapping):
        raise StethoscopeError(f"Fix {kind.kind}: expected parameters by name, got {type(params).__name__}.")
    return kind.from_params(params)
