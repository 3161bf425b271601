"""One column per class to class numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from stethoscope.data.preprocessing import parameter
from stethoscope.data.preprocessing.parameter import StepKind

if TYPE_CHECKING:
    import numpy.typing as npt


class FromOneHot(StepKind):
    """One column per class to class numbers.

    The column with the largest value.
    """

    id = "from_one_hot"
    title = "One-hot to class numbers"

    def apply(self, rows: npt.NDArray[Any], params: Mapping[str, Any]) -> npt.NDArray[Any]:
        """Returns int64 without the last axis."""
        parameter.numbers(rows)
        parameter.rank(rows, tuple(range(2, 9)), "one column per class")
        numbers: npt.NDArray[Any] = rows.argmax(-1)
        return numbers

    def code(self, name: str, params: Mapping[str, Any]) -> str:
        """numpy's argmax."""
        return f"{name} = np.argmax({name}, axis=-1)"

    def words(self, params: Mapping[str, Any]) -> str:
        """ "one-hot to numbers"."""
        return "one-hot to numbers"


STEP = FromOneHot()
