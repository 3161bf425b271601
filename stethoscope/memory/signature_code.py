"""The `input_signature` of a model's inputs, as Python: what keeps a `tf.function` from being traced again. In a worker."""

from __future__ import annotations

from typing import Any

from stethoscope.models.capabilities import LiveModel
from stethoscope.types import Feed, Shape, TensorSpec


def signature_code(runner: LiveModel, feed: Feed, *, compiled: bool = False) -> str:
    """Returns the two lines that wrap `model` in a function that one trace serves for every shape it takes.

    Args:
        runner: the opened model; it is not run.
        feed: one array per input name, of any shape the model takes.
        compiled: whether XLA compiles the function.
    """
    seen: list[Any] = []

    def capture(argument: Any) -> Any:
        seen.append(argument)
        return argument

    runner.called_with(feed, capture)
    specs = _leaves(seen[0], list(runner.inputs))
    options = "jit_compile=True, " if compiled else ""
    return f"import tensorflow as tf\n\ninfer = tf.function(model, {options}input_signature=[{specs}])\n"


def _leaves(argument: Any, inputs: list[TensorSpec]) -> str:
    """The structure of an argument with the code of a spec for each tensor; takes specs off `inputs` in order."""
    if isinstance(argument, dict):
        # Flattened, a dict has the order of its sorted keys.
        found = {key: _leaves(argument[key], inputs) for key in sorted(argument)}
        return "{" + ", ".join(f"{key!r}: {code}" for key, code in found.items()) + "}"
    if isinstance(argument, list):
        return "[" + ", ".join(_leaves(item, inputs) for item in argument) + "]"
    if isinstance(argument, tuple):
        return "(" + "".join(f"{_leaves(item, inputs)}, " for item in argument).rstrip() + ")"
    spec = inputs.pop(0)
    return f"tf.TensorSpec({_shape(spec.shape, argument)}, tf.{argument.dtype.name})"


def _shape(declared: Shape | None, argument: Any) -> str:
    shape = (None,) * len(argument.shape) if declared is None else declared
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"
