"""What the classes of Keras 3 (“keras”), Keras 2 (“tf-keras”) and TensorFlow have by name, from a table of `tools.class_members`."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path

_TABLE = Path(__file__).with_name("members.txt")
OUTSIDE = "(set from outside)"
"""A class of this name has what others set on their objects, as a callback sets history on a model."""
PACKAGES = ("keras", "tf-keras", "tensorflow")
_ALIASES = {"BackendLayer": "KerasAutoTrackable", "EagerTensor": "Tensor", "_EagerTensorBase": "Tensor"}


@functools.cache
def _classes() -> Mapping[tuple[str, str], tuple[tuple[str, ...], frozenset[str]]]:
    found = {}
    for line in _TABLE.read_text("utf-8").splitlines()[1:]:
        package, name, bases, own = line.split("\t")
        found[package, name] = (tuple(bases.split(",")) if bases else (), frozenset(own.split(",")))
    return found


def packages_with(name: str) -> tuple[str, ...]:
    """The packages that have a class of this name."""
    return tuple(package for package in PACKAGES if (package, name) in _classes())


@functools.cache
def members(package: str, name: str) -> frozenset[str]:
    """What a class has by name, from the classes that it derives from too; empty where it is not known."""
    found, todo, seen = set[str](), [name], set[str]()
    while todo:
        one = todo.pop()
        one = _ALIASES.get(one, one) if (package, one) not in _classes() else one
        if one not in seen and (package, one) in _classes():
            seen.add(one)
            bases, own = _classes()[package, one]
            found |= own
            todo.extend(bases)
    return frozenset(found)


def owner(attribute: str, among: tuple[str, ...]) -> str:
    """The first of these classes that has an attribute, in any package; "" for none."""
    return next((name for name in among if any(attribute in members(one, name) for one in PACKAGES)), "")
