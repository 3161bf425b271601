"""How the model was or will be trained, as far as its user says so (`--fit`, or the form on the page)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from stethoscope.errors import BadSetting


@dataclass(frozen=True)
class FitSettings:
    """Arguments of `fit` and `compile`. None means: not said; then the file's compile settings and Keras' defaults hold.

    Source: defaults of keras.Model.fit (batch_size 32, epochs 1, shuffle True, validation_split 0).
    """

    epochs: int | None = None
    batch_size: int | None = None
    validation_split: float | None = None
    shuffle: bool | None = None
    loss: str | None = None
    from_logits: bool | None = None
    optimizer: str | None = None
    learning_rate: float | None = None
    metrics: str | None = None

    @property
    def batch(self) -> int:
        """The batch size that holds."""
        return self.batch_size or 32

    @property
    def shuffled(self) -> bool:
        """Whether `fit` shuffles the training rows."""
        return True if self.shuffle is None else self.shuffle

    @classmethod
    def parse(cls, text: str) -> Self:
        """Reads `epochs=50,batch_size=32,validation_split=0.2,shuffle=false`.

        Raises:
            BadSetting: an unknown name or a value that makes no sense; lists the names.
        """
        values: dict[str, str] = {}
        for part in (part.strip() for part in text.split(",")):
            if not part:
                continue
            name, equals, value = (piece.strip() for piece in part.partition("="))
            if not equals or name not in cls.__dataclass_fields__:
                known = ", ".join(cls.__dataclass_fields__)
                raise BadSetting(f"Fit setting {part!r}: expected name=value with one of {known}. Correct it.")
            values[name] = value
        return cls.from_mapping(values)

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> Self:
        """From texts or JSON values by name; None and "" mean not said.

        Raises:
            BadSetting: a value that makes no sense.
        """
        read: dict[str, Any] = {}
        for name, value in values.items():
            if value is None or value == "" or name not in _READERS:
                continue
            try:
                read[name] = _READERS[name](value)
            except (ValueError, TypeError, OverflowError) as error:
                raise BadSetting(
                    f"Fit setting {name}: expected {_EXPECTED[name]}, got {value!r}. Correct it."
                ) from error
        return cls(**read)

    def to_json(self) -> dict[str, Any]:
        """What was said, by name."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def _whole(value: Any) -> int:
    number = int(str(value))
    if number < 1:
        raise ValueError("at least 1")
    return number


def _fraction(value: Any) -> float:
    number = float(value)
    if not 0 <= number < 1:
        raise ValueError("from 0 to 1")
    return number


def _rate(value: Any) -> float:
    number = float(value)
    if not 0 < number < math.inf:
        raise ValueError("more than 0")
    return number


def _flag(value: Any) -> bool:
    text = str(value).lower()
    if text not in ("true", "false", "1", "0", "yes", "no"):
        raise ValueError("true or false")
    return text in ("true", "1", "yes")


_READERS: dict[str, Callable[[Any], Any]] = {
    "epochs": _whole,
    "batch_size": _whole,
    "validation_split": _fraction,
    "shuffle": _flag,
    "loss": str,
    "from_logits": _flag,
    "optimizer": str,
    "learning_rate": _rate,
    "metrics": str,
}
_EXPECTED = {
    "epochs": "a whole number from 1",
    "batch_size": "a whole number from 1",
    "validation_split": "a number from 0 to below 1",
    "shuffle": "true or false",
    "loss": "a name",
    "from_logits": "true or false",
    "optimizer": "a name",
    "learning_rate": "a number above 0",
    "metrics": "a name",
}
