"""What an operation of two plain values gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stethoscope.pasted.scripts.values import Const, Operation, Value

_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "Add": lambda a, b: a + b,
    "Sub": lambda a, b: a - b,
    "Mult": lambda a, b: a * b,
    "Div": lambda a, b: a / b,
    "FloorDiv": lambda a, b: a // b,
    "Mod": lambda a, b: a % b,
}
_LARGEST = 1e18


def folded(operation: Operation) -> Value:
    """The number or text that an operation of constants gives; else the operation."""
    left, right = operation.left, operation.right
    work = _ARITHMETIC.get(operation.operator)
    if work is None or not isinstance(left, Const) or not isinstance(right, Const):
        return operation
    plain = (int, float)
    numbers = isinstance(left.value, plain) and isinstance(right.value, plain)
    texts = operation.operator == "Add" and isinstance(left.value, str) and isinstance(right.value, str)
    if not numbers and not (texts and len(left.value) + len(right.value) < 10_000):
        return operation
    try:
        found = work(left.value, right.value)
    except (ArithmeticError, ValueError):
        return operation
    return operation if numbers and not abs(found) < _LARGEST else Const(found)
