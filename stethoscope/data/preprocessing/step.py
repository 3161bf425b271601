"""One change to data on its way into a model: applied to arrays, shown as code, kept as JSON."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from stethoscope.data.preprocessing.parameter import Parameter, checked

if TYPE_CHECKING:
    import numpy.typing as npt


@dataclass(frozen=True)
class Step:
    """A step as a user chose it. JSON: {"step": kind, "of": array name, **params}."""

    kind: str
    """The id of a `StepKind`: scale, standardize, transpose, one_hot, resize, pad, cast, …"""
    of: str
    """The array it changes: "x", "y", or an array's own name."""
    params: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """As in a job's parameters and in the address."""
        listed = {name: list(value) if isinstance(value, tuple) else value for name, value in self.params.items()}
        return {"step": self.kind, "of": self.of, **listed}


class StepKind(ABC):
    """One kind of step; one file in `stethoscope/data/preprocessing/` each, its `STEP`.

    What it does to a row depends on that row and the parameters alone: data is prepared in parts.
    """

    id: ClassVar[str]
    title: ClassVar[str]
    """For people: "Scale"."""
    parameters: ClassVar[tuple[Parameter, ...]] = ()

    def checked(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters in their own types, defaults filled in.

        Raises:
            BadSetting: a parameter is missing, unknown or makes no sense.
        """
        return checked(self.id, self.parameters, params)

    @abstractmethod
    def apply(self, rows: npt.NDArray[Any], params: Mapping[str, Any]) -> npt.NDArray[Any]:
        """Returns the changed rows (leading dimension: rows); the given array stays as it is.

        Raises:
            BadInput: the array cannot be changed so (wrong rank, text, …); says what it expected.
        """

    @abstractmethod
    def code(self, name: str, params: Mapping[str, Any]) -> str:
        """Python (numpy, or keras where numpy has no such thing) that does the same to the variable `name`."""

    @abstractmethod
    def words(self, params: Mapping[str, Any]) -> str:
        """What it does in a few words: "÷255", "resize to 224×224"."""
