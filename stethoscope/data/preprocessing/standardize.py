"""Subtract a mean and divide by a deviation, one for all values or one per channel or column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from stethoscope.data.preprocessing import parameter
from stethoscope.data.preprocessing.parameter import Parameter, StepKind
from stethoscope.errors import BadInput, BadSetting

if TYPE_CHECKING:
    import numpy.typing as npt


class Standardize(StepKind):
    """Subtract a mean and divide by a deviation, one for all values or one per channel or column.

    (value − mean) / std; a std of 0 (a constant column) divides by 1, as scikit-learn's StandardScaler.

    The numbers are stored, measured once on this data: every row predicted later gets the same change.
    """

    id = "standardize"
    title = "Standardize"
    parameters = (
        Parameter("mean", "Mean", "numbers"),
        Parameter("std", "Standard deviation", "numbers", least=0.0),
        Parameter("axis", "Axis of channels or columns", "count", -1, least=-8, most=8),
    )

    def checked(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Also: as many deviations as means, and an axis that is not the rows'."""
        found = super().checked(params)
        if len(found["mean"]) != len(found["std"]):
            raise BadSetting(
                f"Step standardize: expected as many std as mean, got {len(found['std'])} and {len(found['mean'])}. "
                "Give one number for all, or one per channel."
            )
        if found["axis"] == 0:
            raise BadSetting("Step standardize: expected an axis other than 0, which counts rows. Use -1 for the last.")
        return found

    def apply(self, rows: npt.NDArray[Any], params: Mapping[str, Any]) -> npt.NDArray[Any]:
        """Returns (rows − mean) / std as float32 (float64 stays)."""
        import numpy as np

        parameter.numbers(rows)
        made: Any = rows.astype("float64" if rows.dtype == "float64" else "float32")
        mean, std = (np.asarray(params[key], made.dtype) for key in ("mean", "std"))
        std[std == 0] = 1
        if len(mean) == 1:
            return np.asarray((made - mean[0]) / std[0])
        axis = params["axis"]
        if not -rows.ndim <= axis < rows.ndim or axis % rows.ndim == 0 or rows.shape[axis] != len(mean):
            raise BadInput(
                f"expected {len(mean)} values in axis {axis}, got {parameter.described(rows)}. Measure mean and std again."
            )
        shape = [1] * rows.ndim
        shape[axis] = len(mean)
        return np.asarray((made - mean.reshape(shape)) / std.reshape(shape))

    def code(self, name: str, params: Mapping[str, Any]) -> str:
        """The numbers, then the formula."""
        mean, std = list(params["mean"]), [value or 1.0 for value in params["std"]]
        dtype = f'{name} = np.asarray({name})\n{name} = {name}.astype("float64" if {name}.dtype == "float64" else "float32")\n'
        if len(mean) == 1:
            return f"{dtype}{name} = ({name} - {mean[0]!r}) / {std[0]!r}"
        arrays = f"mean = np.array({mean!r}, {name}.dtype)\nstd = np.array({std!r}, {name}.dtype)\n"
        if params["axis"] == -1:
            return f"{dtype}{arrays}{name} = ({name} - mean) / std"
        return (
            f"{dtype}{arrays}shape = [1] * {name}.ndim\nshape[{params['axis']}] = len(mean)\n"
            f"{name} = ({name} - mean.reshape(shape)) / std.reshape(shape)"
        )

    def words(self, params: Mapping[str, Any]) -> str:
        """ "standardize (mean 121, std 64)"."""
        mean, std = params["mean"], params["std"]
        if len(mean) == 1:
            return f"standardize (mean {mean[0]:.3g}, std {std[0]:.3g})"
        return f"standardize {len(mean)} columns" if len(mean) > 4 else f"standardize {len(mean)} channels"


STEP = Standardize()
