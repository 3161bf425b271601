"""A number for missing values (NaN)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from stethoscope.data.preprocessing import parameter
from stethoscope.data.preprocessing.parameter import Parameter, StepKind
from stethoscope.errors import BadInput

if TYPE_CHECKING:
    import numpy.typing as npt


class FillMissing(StepKind):
    """A number for missing values (NaN).

    NaN, and infinities too, become the number given: one for all, or one per column of the last axis.
    """

    id = "fill_missing"
    title = "Fill missing values"
    parameters = (
        Parameter("value", "With", "numbers", (0.0,), help="One number, or one per column (its mean or median)"),
        Parameter("infinite", "Also infinities", "flag", False),
    )

    def apply(self, rows: npt.NDArray[Any], params: Mapping[str, Any]) -> npt.NDArray[Any]:
        """Returns the rows with every value finite (or not NaN)."""
        import numpy as np

        parameter.numbers(rows)
        values = np.asarray(params["value"], "float64")
        if len(values) > 1 and (rows.ndim < 2 or rows.shape[-1] != len(values)):
            raise BadInput(
                f"expected {len(values)} columns, got {parameter.described(rows)}. Give one value for each column."
            )
        if rows.dtype.kind != "f":
            return rows
        missing = ~np.isfinite(rows) if params["infinite"] else np.isnan(rows)
        return np.where(missing, values.astype(rows.dtype) if len(values) > 1 else rows.dtype.type(values[0]), rows)

    def code(self, name: str, params: Mapping[str, Any]) -> str:
        """numpy's where."""
        values = params["value"]
        shown = f"np.array({list(values)!r}, {name}.dtype)" if len(values) > 1 else f"{name}.dtype.type({values[0]!r})"
        missing = f"~np.isfinite({name})" if params["infinite"] else f"np.isnan({name})"
        return f"{name} = np.asarray({name})\n{name} = np.where({missing}, {shown}, {name})"

    def words(self, params: Mapping[str, Any]) -> str:
        """ "fill missing with 0"."""
        values = params["value"]
        return f"fill missing with {values[0]:g}" if len(values) == 1 else "fill missing per column"


STEP = FillMissing()
