"""What is known about the place where two models part."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from stethoscope.architecture.formulas import Array
from stethoscope.types import Layer


@dataclass(frozen=True)
class WeightPair:
    """One tensor of a layer in both files; None where a file has none such."""

    layer: str
    name: str
    a: npt.NDArray[Any] | None
    b: npt.NDArray[Any] | None


@dataclass(frozen=True)
class SettingChange:
    """A setting that the two files give differently."""

    layer: str
    field: str
    a: Any
    b: Any


@dataclass(frozen=True)
class Added:
    """An operator of the second model that no layer of the first stands for."""

    path: str
    answer: Array
    """As it lies there."""
    value_range: tuple[float, float] | None = None
    """What a quantised answer can stand for."""


@dataclass(frozen=True)
class Case:
    """The first pair of tensors that are not the same, with what is known about how they came to be."""

    a: Array
    """What the first model's layer answered: (rows, …)."""
    b: Array
    """What the second model's answered, turned as the first lies."""
    layer: Layer
    """The first model's layer that answered it."""
    group: tuple[Layer, ...]
    """It, and before it the layers whose own answers the second model does not show (fused), in order."""
    inputs: tuple[Array, ...] = ()
    """What went into the group, the same in both models; as the first has it."""
    answers: Mapping[str, Array] = field(default_factory=dict)
    """What layers of the group, and those that go into it, answered in the first model, by path."""
    channel_axis: int = -1
    settings: tuple[SettingChange, ...] = ()
    weights: tuple[WeightPair, ...] = ()
    moved: float = 0.0
    """By what share the answer of either model is another when asked again."""
    value_range: tuple[float, float] | None = None
    """What a quantised tensor of the second model can stand for."""
    step: float | None = None
    """Between two of its values."""
    added: tuple[Added, ...] = ()
    """Operators that only the second model has on the way from the inputs, or inside what answers for the layer."""

    def of_type(self, *words: str) -> Layer | None:
        """The last layer of the group whose type has one of these words in it, in lower case."""
        for layer in reversed(self.group):
            kind = layer.type.lower().replace("_", "")
            if any(word in kind for word in words):
                return layer
        return None

    @cached_property
    def rms(self) -> float:
        """Of what the first model answered; above 0."""
        return float(np.sqrt(np.mean(np.square(self.a)))) or 1e-30

    @cached_property
    def channels(self) -> tuple[Array, Array]:
        """Both as (values, channels)."""
        return tuple(  # type: ignore[return-value]
            np.moveaxis(one, self.channel_axis, -1).reshape(-1, one.shape[self.channel_axis])
            for one in (self.a, self.b)
        )

    def unexplained(self, guess: Array) -> float:
        """How much of the difference is left when `guess` stands for what the second model answered: 0 all explained, 1 nothing."""
        gap = float(np.sum(np.square(self.b - self.a)))
        return float(np.sum(np.square(self.b - guess))) / gap if gap else 1.0


@dataclass(frozen=True)
class Guess:
    """A cause, how sure we are, and what it was told by."""

    cause: str
    """The id."""
    title: str
    sentence: str
    confidence: float
    """0 … 1."""
    layer: str
    """The first model's layer that it is about."""
    fix: str = ""
    """What to do, a sentence."""


class Cause(ABC):
    """One cause."""

    id: str
    title: str

    def guess(self, sentence: str, confidence: float, layer: str, fix: str = "") -> Guess:
        """That it is this cause."""
        return Guess(self.id, self.title, sentence, confidence, layer, fix)

    @abstractmethod
    def weigh(self, case: Case) -> Guess | None:
        """How likely it is; None where nothing speaks for it."""
