"""Whether a value of a script is a symbolic tensor: one that `keras.Input` begins."""

from __future__ import annotations

from stethoscope.pasted.scripts.names import meaning
from stethoscope.pasted.scripts.values import Either, Element, Items, Made, Operation, Value

_KEEPS_SYMBOLS = ("keras.ops.", "keras.activations.", "keras.backend.", "keras.losses.", "keras.applications.")
_DEEPEST = 40


def is_symbolic(value: Value, depth: int = 0) -> bool:
    """Whether a value is a symbolic tensor for certain: it comes from `keras.Input` through layers."""
    if depth > _DEEPEST:
        return False
    if isinstance(value, Items):
        return bool(value.items) and all(is_symbolic(one, depth + 1) for one in value.items)
    if isinstance(value, Either):
        return all(is_symbolic(one, depth + 1) for one in value.made_of)
    if isinstance(value, Element):
        return is_symbolic(value.of, depth + 1)
    if isinstance(value, Operation):
        return is_symbolic(value.left, depth + 1) or is_symbolic(value.right, depth + 1)
    if not isinstance(value, Made):
        return False
    call = value.call
    if meaning(call.name) == "keras.layers.Input":
        return True
    if isinstance(call.function, Made) and call.args:
        return is_symbolic(call.args[0], depth + 1)
    return meaning(call.name).startswith(_KEEPS_SYMBOLS) and any(is_symbolic(one, depth + 1) for one in call.args)
