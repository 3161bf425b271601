"""Steps that change which axes a row has, their order and sizes; the values stay."""

from __future__ import annotations

import math
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


class Reshape(StepKind):
    """Another shape of each row: 784 values to 28 × 28 × 1.

    Each row's values in the same order, in another shape; −1 once for what is left.
    """

    id = "reshape"
    title = "Reshape"
    parameters = (Parameter("shape", "Shape of a row", "counts", least=-1, most=1 << 40, help="28, 28, 1"),)

    def checked(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Also: −1 at most once, no 0, a sensible number of axes."""
        found = super().checked(params)
        shape = found["shape"]
        if shape.count(-1) > 1 or 0 in shape or len(shape) > 8:
            raise BadSetting(f"Step reshape: expected sizes above 0, with -1 at most once, got {list(shape)[:9]}.")
        return found

    def apply(self, rows: npt.NDArray[Any], params: Mapping[str, Any]) -> npt.NDArray[Any]:
        """Returns the rows in the new shape.

        Raises:
            BadInput: a row holds another number of values.
        """
        shape = params["shape"]
        values, wanted = math.prod(rows.shape[1:]), math.prod(size for size in shape if size != -1)
        if values != wanted and (-1 not in shape or values % wanted):
            raise BadInput(f"expected {wanted:,} values in a row for {tuple(shape)}, got {parameter.described(rows)}.")
        return rows.reshape(len(rows), *(values // wanted if size == -1 else size for size in shape))

    def code(self, name: str, params: Mapping[str, Any]) -> str:
        """numpy's reshape."""
        return f"{name} = np.reshape({name}, (len({name}), {', '.join(map(str, params['shape']))}))"

    def words(self, params: Mapping[str, Any]) -> str:
        """ "reshape to 28×28×1"."""
        return f"reshape to {'×'.join(map(str, params['shape']))}"


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


STEPS = (AddAxis(), RemoveAxis(), Transpose(), Reshape(), Flatten())
