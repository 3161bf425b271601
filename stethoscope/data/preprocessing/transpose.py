"""Another order of the axes: channels first to channels last, time before features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from stethoscope.data.preprocessing import parameter
from stethoscope.data.preprocessing.parameter import Parameter, StepKind
from stethoscope.errors import BadInput, BadSetting

if TYPE_CHECKING:
    import numpy.typing as npt

_NAMED = {(0, 2, 3, 1): "channels first → last", (0, 3, 1, 2): "channels last → first"}


class Transpose(StepKind):
    """Another order of the axes: channels first to channels last, time before features.

    Axes in a new order, the rows' own (0) first.
    """

    id = "transpose"
    title = "Transpose"
    parameters = (
        Parameter(
            "axes",
            "New order of the axes",
            "counts",
            least=0,
            most=16,
            help="0, 2, 3, 1 makes channels first channels last",
        ),
    )

    def checked(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Also: each axis once, the rows' first."""
        found = super().checked(params)
        axes = found["axes"]
        if axes[0] != 0 or sorted(axes) != list(range(len(axes))):
            raise BadSetting(
                f"Step transpose: expected each axis once, 0 (the rows) first, got {list(axes)[:16]}. "
                "For images channels first to last: 0, 2, 3, 1."
            )
        return found

    def apply(self, rows: npt.NDArray[Any], params: Mapping[str, Any]) -> npt.NDArray[Any]:
        """Returns a view with the axes in the new order."""
        axes = params["axes"]
        if rows.ndim != len(axes):
            raise BadInput(
                f"expected {len(axes)} axes with the rows', got {rows.ndim} ({parameter.described(rows)}). Change the order of the axes."
            )
        return rows.transpose(axes)

    def code(self, name: str, params: Mapping[str, Any]) -> str:
        """numpy's transpose."""
        return f"{name} = np.transpose({name}, {tuple(params['axes'])!r})"

    def words(self, params: Mapping[str, Any]) -> str:
        """ "channels first → last", "transpose (0, 2, 1)"."""
        axes = tuple(params["axes"])
        return _NAMED.get(axes, f"transpose {axes}")


STEP = Transpose()
