"""Names of a script while it is walked through: scopes, and what two branches leave of them."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field

from stethoscope.pasted.scripts.values import Const, Either, Function, Ref, Value


@dataclass(eq=False)
class Scope:
    """Names of one function, or of the script."""

    names: dict[str, Value] = field(default_factory=dict)
    parent: Scope | None = None
    outside: set[str] = field(default_factory=set)
    """Declared global or nonlocal."""

    def find(self, name: str) -> Value | None:
        """What a name means here."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.parent
        return None

    def put(self, name: str, value: Value) -> None:
        """Gives a name a meaning."""
        scope: Scope = self
        if name in self.outside:
            while scope.parent is not None:
                scope = scope.parent
        scope.names[name] = value


def merged(one: dict[str, Value], other: dict[str, Value]) -> dict[str, Value]:
    """What is known after two branches."""
    found = dict(one)
    for name, value in other.items():
        before = found.get(name)
        if before is None or before is value or _same(before, value):
            found[name] = value
        else:
            found[name] = Either((before, value))
    return found


def _same(one: Value, other: Value) -> bool:
    return (
        isinstance(one, Const)
        and isinstance(other, Const)
        and type(one.value) is type(other.value)
        and one.value == other.value
    )


def is_static(function: Function) -> bool:
    """Whether a method takes no object."""
    return any(isinstance(one, Ref) and one.name == "staticmethod" for one in function.decorators)


def yields(body: Sequence[ast.stmt]) -> bool:
    """Whether a function is a generator."""
    return any(isinstance(node, ast.Yield | ast.YieldFrom) for statement in body for node in ast.walk(statement))
