"""What the rules of layers have in common: a rule answers for a kind of layer, in plain numpy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.compare.parity.activation_forms import named_function

Array = npt.NDArray[np.float64]
Weights = Mapping[str, Array]
Settings = Mapping[str, Any]
Rule = Callable[[Sequence[Array], Weights, Settings], Array]
"""Of what a layer reads, its weights by short names and its settings; KeyError for settings that it does not know."""


def sizes(value: Any, rank: int) -> tuple[int, ...]:
    """A setting that is one number or one for each axis, as one for each axis."""
    if isinstance(value, int | float):
        return (int(value),) * rank
    found = tuple(int(one) for one in value)
    return found if len(found) == rank else (found[0],) * rank


def ended(x: Array, weights: Weights, settings: Settings) -> Array:
    """With the bias and the activation that the settings ask for.

    Raises:
        KeyError: an activation that is not known here.
    """
    if settings.get("use_bias", True) and "bias" in weights:
        x = x + weights["bias"]
    kind = settings.get("activation")
    if kind in (None, "linear"):
        return x
    function = named_function(str(kind))
    if function is None:
        raise KeyError(kind)
    return function(x)


def axes_of(settings: Settings, rank: int, usual: Any = -1) -> tuple[int, ...]:
    """The axes that "axis" names, counted from the front."""
    told = settings.get("axis", usual)
    told = tuple(told) if isinstance(told, list | tuple) else (told,)
    return tuple(int(one) % rank for one in told)
