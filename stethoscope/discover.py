"""Finds what lives in a package by looking: one file, one object."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType
from typing import Any


def discover(package: ModuleType, attribute: str, key: str) -> dict[str, Any]:
    """Imports every module of `package` and returns its `attribute` objects by their `key`.

    Args:
        package: the package to look through (not recursive; modules without the attribute are skipped).
        attribute: the module-level name to look for, for example "FORMAT"; a module that has several names them together,
            as a tuple, in the plural of it.
        key: the name of the object's own id attribute.

    Raises:
        ValueError: an id is defined twice.
    """
    found: dict[str, Any] = {}
    for info in sorted(pkgutil.iter_modules(package.__path__), key=lambda m: m.name):
        module = importlib.import_module(f"{package.__name__}.{info.name}")
        single = getattr(module, attribute, None)
        for thing in getattr(module, plural(attribute), () if single is None else (single,)):
            name = getattr(thing, key)
            if name in found:
                raise ValueError(f"{module.__name__}: id {name!r} is already taken. Choose another id.")
            found[name] = thing
    return found


def plural(attribute: str) -> str:
    """The name under which a module gives several: FORMATS, FIXES."""
    return f"{attribute}{'ES' if attribute.endswith('X') else 'S'}"
