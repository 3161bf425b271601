"""Inputs of one model as another takes them: by its names, channels first or last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stethoscope.compare.parity.comparison import InputPair
from stethoscope.compare.parity.orientation import candidates
from stethoscope.types import Feed


class TurnedInputs:
    """Inputs of the first model as the second takes them."""

    def __init__(self, inputs: Mapping[str, str], specs: Sequence[Any]) -> None:
        self._inputs, self._specs = inputs, {spec.name: spec for spec in specs}
        self._orders: dict[str, Any] = {}

    def feed(self, feed: Feed) -> Feed:
        """The feed by the second model's names; channels first or last where that is how it takes them."""
        found: Feed = {}
        for name, original in self._inputs.items():
            array, spec = feed[original], self._specs[name]
            wanted = spec.shape
            if wanted is not None and len(wanted) == array.ndim and not _fits(array.shape, wanted):
                turned = next(
                    (one for one in candidates(_filled(wanted, array.shape), array.shape) if not one.is_plain), None
                )
                if turned is not None:
                    self._orders[name] = turned
                    array = turned.apply(array, _filled(wanted, array.shape))
            found[name] = array
        return found

    def pairs(self) -> tuple[InputPair, ...]:
        """Which input of the first went into which of the second, and how it was turned."""
        return tuple(
            InputPair(original, name, self._orders[name].said() if name in self._orders else "")
            for name, original in self._inputs.items()
        )


def _fits(shape: Sequence[int], wanted: Sequence[int | None]) -> bool:
    return all(
        size is None or place == 0 or size == have for place, (size, have) in enumerate(zip(wanted, shape, strict=True))
    )


def _filled(wanted: Sequence[int | None], shape: Sequence[int]) -> tuple[int, ...]:
    """The wanted shape with what is open taken from what is left of the array's sizes."""
    rest = list(shape[1:])
    for size in wanted[1:]:
        if size in rest:
            rest.remove(size)
    return (shape[0], *(size if size is not None else (rest.pop(0) if rest else 1) for size in wanted[1:]))
