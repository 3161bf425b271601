"""Why `fit` stops: one plain sentence with the shapes as they are and as they should be."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from stethoscope.architecture.losses import canonical_loss
from stethoscope.errors import StethoscopeError
from stethoscope.framework_errors import gist
from stethoscope.program.setup import Setup

_TRACING = re.compile(
    r"OperatorNotAllowedInGraph|not allowed in Graph|symbolic|KerasTensor|numpy\(\)|NotImplementedError: Cannot convert|"
    r"Cannot convert a symbolic|in graph mode|EagerTensor|is not iterable|out of scope|FailedPrecondition",
    re.IGNORECASE,
)
_PER_COLUMN = ("categorical_crossentropy", "binary_crossentropy", "mean_squared_error", "mean_absolute_error")


class FitCrash(StethoscopeError):
    """`fit` would stop with an error. The message says why; `cause` is what the framework raised."""

    def __init__(self, message: str, cause: Exception | None = None) -> None:
        super().__init__(message)
        self.cause = cause


def is_tracing_failure(error: Exception) -> bool:
    """Whether another way to run (converted or eager) may get past this error."""
    return bool(_TRACING.search(f"{type(error).__name__}: {error}"))


def crash_sentence(setup: Setup, model: Any, error: Exception) -> str:
    """What stops `fit`, in the user's terms where the shapes explain it, else the framework's own line."""
    for sentence in (_inputs(setup, model), _targets(setup, model), _labels(setup, error), _tokens(error)):
        if sentence:
            return f"fit stops: {sentence}"
    return f"fit stops: {gist(error)}."


def _inputs(setup: Setup, model: Any) -> str:
    try:
        declared = [tuple(tensor.shape) for tensor in model.inputs or ()]
    except (AttributeError, ValueError, TypeError):
        return ""
    for (name, array), shape in zip(setup.x.items(), declared, strict=False):
        given = tuple(array.shape)
        # Keras adds or drops a last axis of 1.
        forms = {given, (*given, 1), given[:-1] if given[-1:] == (1,) else given}
        if not any(_fits(form, shape) for form in forms):
            return (
                f"input {name!r} has the shape {_shown((None, *given[1:]))}, the model is declared for {_shown(shape)}."
            )
        if array.dtype.kind in "OSU":
            return f"input {name!r} holds text, the model expects numbers."
    return ""


def _targets(setup: Setup, model: Any) -> str:
    try:
        shapes = [tuple(tensor.shape) for tensor in model.outputs or ()]
    except (AttributeError, ValueError, TypeError):
        return ""
    for place, (y, shape) in enumerate(zip(setup.y, shapes, strict=False)):
        loss = canonical_loss(setup.losses[place] if place < len(setup.losses) else None)[0]
        of = f" of {setup.outputs[place]!r}" if len(setup.y) > 1 and place < len(setup.outputs) else ""
        given = (None, *y.shape[1:])
        if y.dtype.kind in "OSU":
            return f"the targets{of} are text; {loss or 'the loss'} needs numbers."
        if loss.startswith("sparse_"):
            if y.ndim > 1 and y.shape[1:] not in ((1,), tuple(shape[1:-1]), (*shape[1:-1], 1)):
                return (
                    f"the targets{of} have the shape {_shown(given)}, but {loss} needs one class number for each prediction: "
                    f"{_shown(shape[:-1])}."
                )
            continue
        wanted = tuple(size for size in shape[1:] if size is not None)
        if loss in _PER_COLUMN and len(wanted) == len(shape) - 1 and math.prod(y.shape[1:]) != math.prod(wanted):
            return (
                f"the targets{of} have the shape {_shown(given)}, the model's output is {_shown(shape)}; "
                f"{loss} needs both to be the same."
            )
    return ""


def _labels(setup: Setup, error: Exception) -> str:
    found = re.search(r"label value of (-?\d+) which is outside the valid range of \[(\d+), (\d+)\)", str(error))
    if not found:
        return ""
    values = next((y for y in setup.y if y.dtype.kind in "biuf"), np.zeros(1))
    return (
        f"the labels go from {values.min():g} to {values.max():g}, but the output has {found[3]} units, "
        f"which stand for the classes 0 to {int(found[3]) - 1}."
    )


def _tokens(error: Exception) -> str:
    found = re.search(r"indices\[[\d, ]*\] = (-?\d+) is not in \[0, (\d+)\)", str(error))
    if not found:
        return ""
    return (
        f"the input holds the number {found[1]}, but the Embedding knows only 0 to {int(found[2]) - 1}: "
        "its input_dim must be above the highest number."
    )


def _fits(given: tuple[int, ...], declared: tuple[int | None, ...]) -> bool:
    return len(given) == len(declared) and all(
        wanted is None or size == wanted for size, wanted in zip(given[1:], declared[1:], strict=True)
    )


def _shown(shape: tuple[int | None, ...]) -> str:
    sizes = [
        "rows" if place == 0 and size is None else "any" if size is None else str(size)
        for place, size in enumerate(shape)
    ]
    return f"({', '.join(sizes)})" if len(sizes) != 1 else f"({sizes[0]},)"
