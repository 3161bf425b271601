"""Values held between two bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from stethoscope.data.preprocessing import parameter
from stethoscope.data.preprocessing.parameter import Parameter, StepKind
from stethoscope.errors import BadInput, BadSetting

if TYPE_CHECKING:
    import numpy.typing as npt


class Clip(StepKind):
    """Values held between two bounds.

    Smaller values become the least, larger ones the most; NaN stays.
    """

    id = "clip"
    title = "Clip"
    parameters = (Parameter("least", "Least", "number", 0.0), Parameter("most", "Most", "number", 1.0))

    def checked(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Also: the least is not above the most."""
        found = super().checked(params)
        if found["least"] > found["most"]:
            raise BadSetting(f"Step clip: expected least up to most, got {found['least']} and {found['most']}.")
        return found

    def apply(self, rows: npt.NDArray[Any], params: Mapping[str, Any]) -> npt.NDArray[Any]:
        """Returns values within the bounds, in the same dtype.

        Raises:
            BadInput: text, or whole numbers with a fraction as a bound.
        """
        parameter.numbers(rows)
        least, most = params["least"], params["most"]
        if rows.dtype.kind in "iub":
            if rows.dtype.kind == "b" or least != int(least) or most != int(most):
                raise BadInput(
                    f"expected whole bounds for {rows.dtype}, got {least:g} and {most:g}. Cast to float32 first."
                )
            import numpy as np

            bounds = np.iinfo(rows.dtype)
            least, most = (min(max(int(value), bounds.min), bounds.max) for value in (least, most))
        return rows.clip(least, most)

    def code(self, name: str, params: Mapping[str, Any]) -> str:
        """numpy's clip."""
        bounds = [int(value) if value == int(value) else value for value in (params["least"], params["most"])]
        return f"{name} = np.clip({name}, {bounds[0]!r}, {bounds[1]!r})"

    def words(self, params: Mapping[str, Any]) -> str:
        """ "clip to 0 … 1"."""
        return f"clip to {params['least']:g} … {params['most']:g}"


STEP = Clip()
