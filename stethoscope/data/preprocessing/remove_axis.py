"""An axis of size 1 taken away."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from stethoscope.data.preprocessing import parameter
from stethoscope.data.preprocessing.parameter import Parameter, StepKind
from stethoscope.errors import BadInput, BadSetting

if TYPE_CHECKING:
    import numpy.typing as npt


class RemoveAxis(StepKind):
    """An axis of size 1 taken away.

    numpy's squeeze of one axis.
    """

    id = "remove_axis"
    title = "Remove an axis"
    parameters = (Parameter("axis", "Which", "count", -1, least=-9, most=9, help="-1: the last"),)

    def checked(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Also: not the rows."""
        found = super().checked(params)
        if found["axis"] == 0:
            raise BadSetting("Step remove_axis: expected an axis other than 0, which counts rows. Use -1 for the last.")
        return found

    def apply(self, rows: npt.NDArray[Any], params: Mapping[str, Any]) -> npt.NDArray[Any]:
        """Returns a view with one axis less.

        Raises:
            BadInput: no such axis, or its size is not 1.
        """
        axis = params["axis"]
        if not -rows.ndim <= axis < rows.ndim or axis % rows.ndim == 0 or rows.shape[axis] != 1:
            raise BadInput(f"expected size 1 in axis {axis}, got {parameter.described(rows)}. Choose another axis.")
        return rows.squeeze(axis)

    def code(self, name: str, params: Mapping[str, Any]) -> str:
        """numpy's squeeze."""
        return f"{name} = np.squeeze({name}, axis={params['axis']})"

    def words(self, params: Mapping[str, Any]) -> str:
        """ "remove the last axis"."""
        return "remove the last axis" if params["axis"] == -1 else f"remove axis {params['axis']}"


STEP = RemoveAxis()
