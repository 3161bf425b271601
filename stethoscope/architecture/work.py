"""What one call of a layer computes: multiply-adds, other operations, and how activation functions count.

Conventions, those of TensorFlow's profiler: a multiply-add is two operations; additions, products, comparisons and means count
one each, a reciprocal square root two, softmax five per element; activation functions that the profiler does not count (ReLU,
sigmoid, tanh, erf, exp) and moving data (reshape, concatenation, padding, resizing, lookups) count nothing.
Source: tensorflow/python/profiler/internal/flops_registry.py; tensorflow/python/ops/{math,nn}_ops.py (RegisterStatistics).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from stethoscope.architecture.activations import OPERATORS, plain_type
from stethoscope.architecture.layer_kinds import activation_of, kind_of
from stethoscope.types import Layer

Size = tuple[int, ...]


class Unknown(Exception):
    """The work of this call cannot be known; the text says why."""


@dataclass(frozen=True)
class Work:
    """Of one call: `macs` multiply-adds, and `other` operations that are none."""

    macs: int = 0
    other: int = 0

    @property
    def flops(self) -> int:
        """Floating-point operations: two for each multiply-add."""
        return 2 * self.macs + self.other

    def __add__(self, more: Work) -> Work:
        return Work(self.macs + more.macs, self.other + more.other)

    def times(self, count: int) -> Work:
        """The same, `count` times."""
        return Work(self.macs * count, self.other * count)


@dataclass(frozen=True)
class Given:
    """One call with every size a number.

    `type`, `config` are of the layer itself, or of the one it wraps.
    """

    layer: Layer
    type: str
    config: Mapping[str, Any]
    operands: tuple[Size | None, ...]
    output: Size | None

    @property
    def kind(self) -> str:
        """The type in one spelling."""
        return plain_type(self.type)

    def read(self, index: int = 0) -> Size:
        """The sizes of one operand.

        Raises:
            Unknown: they are not known.
        """
        size = self.operands[index] if -len(self.operands) <= index < len(self.operands) else None
        if size is None:
            raise Unknown("the sizes of what it reads are not known")
        return size

    def made(self) -> Size:
        """The sizes of the output.

        Raises:
            Unknown: they are not known.
        """
        if self.output is None:
            raise Unknown("the size of its output is not known")
        return self.output

    def number(self, *keys: str, default: int | None = None) -> int:
        """An integer setting.

        Raises:
            Unknown: the file does not have it, and there is no default.
        """
        for key in keys:
            value = self.config.get(key)
            if isinstance(value, int) and not isinstance(value, bool):
                return value
        if default is None:
            raise Unknown(f"its setting {keys[0]!r} is not in the file")
        return default

    def flag(self, key: str, default: bool) -> bool:
        """A yes or no setting."""
        value = self.config.get(key)
        return default if value is None else bool(value)


Rule = Callable[[Given], Work]

_PER_ELEMENT = {"quickgelu": 2, "clip": 2, "clipbyvalue": 2}
"""Operations per element, beside those of activations."""


def activation(given: Given, elements: int, key: str = "activation") -> Work:
    """The activation function that a layer applies to `elements` values; none counts nothing."""
    config = given.config if key == "activation" else {"activation": given.config.get(key)}
    name = activation_of(given.type, kind_of(given.type, given.layer.parameters), config)
    return Work(0, per_element(name) * elements)


def per_element(name: str) -> int:
    """Operations per element of an activation function by its plain name."""
    operator = OPERATORS.get(name)
    return _PER_ELEMENT.get(name, 0) if operator is None else operator.operations


def elements(size: Size) -> int:
    """How many values a tensor of this size has."""
    return math.prod(size)
