"""An axis of size 1: a channel for grey images, a feature for sequences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from stethoscope.data.preprocessing import parameter
from stethoscope.data.preprocessing.parameter import Parameter, StepKind
from stethoscope.errors import BadInput, BadSetting

if TYPE_CHECKING:
    import numpy.typing as npt


class AddAxis(StepKind):
    """An axis of size 1: a channel for grey images, a feature for sequences.

    numpy's expand_dims.
    """

    id = "add_axis"
    title = "Add an axis"
    parameters = (Parameter("axis", "At", "count", -1, least=-9, most=9, help="-1: behind the last"),)

    def checked(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Also: not before the rows."""
        found = super().checked(params)
        if found["axis"] == 0:
            raise BadSetting("Step add_axis: expected an axis other than 0, which counts rows. Use 1 or -1.")
        return found

    def apply(self, rows: npt.NDArray[Any], params: Mapping[str, Any]) -> npt.NDArray[Any]:
        """Returns a view with one axis more."""
        import numpy as np

        axis = params["axis"]
        if not -rows.ndim <= axis <= rows.ndim:
            raise BadInput(
                f"expected an axis from {-rows.ndim} to {rows.ndim}, got {axis} ({parameter.described(rows)})."
            )
        return np.expand_dims(rows, axis)

    def code(self, name: str, params: Mapping[str, Any]) -> str:
        """numpy's expand_dims."""
        return f"{name} = np.expand_dims({name}, {params['axis']})"

    def words(self, params: Mapping[str, Any]) -> str:
        """ "add an axis"."""
        return "add an axis" if params["axis"] == -1 else f"add axis {params['axis']}"


STEP = AddAxis()
