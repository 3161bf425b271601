"""All values of a row in one line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from stethoscope.data.preprocessing.parameter import StepKind

if TYPE_CHECKING:
    import numpy.typing as npt


class Flatten(StepKind):
    """All values of a row in one line.

    (rows, a, b, c) to (rows, a·b·c).
    """

    id = "flatten"
    title = "Flatten"

    def apply(self, rows: npt.NDArray[Any], params: Mapping[str, Any]) -> npt.NDArray[Any]:
        """Returns a two-dimensional array."""
        import math

        return rows.reshape(len(rows), math.prod(rows.shape[1:]))

    def code(self, name: str, params: Mapping[str, Any]) -> str:
        """numpy's reshape."""
        return f"{name} = np.reshape({name}, (len({name}), -1))"

    def words(self, params: Mapping[str, Any]) -> str:
        """ "flatten"."""
        return "flatten"


STEP = Flatten()
