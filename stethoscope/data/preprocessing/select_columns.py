"""Some columns, in a given order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from stethoscope.data.preprocessing import parameter
from stethoscope.data.preprocessing.parameter import Parameter, StepKind
from stethoscope.errors import BadInput

if TYPE_CHECKING:
    import numpy.typing as npt


class SelectColumns(StepKind):
    """Some columns, in a given order.

    Places on the last axis, counted from 0.
    """

    id = "select_columns"
    title = "Select columns"
    parameters = (Parameter("columns", "Columns", "counts", least=0, most=10_000_000, help="0, 2, 5: counted from 0"),)

    def apply(self, rows: npt.NDArray[Any], params: Mapping[str, Any]) -> npt.NDArray[Any]:
        """Returns the columns in the order given.

        Raises:
            BadInput: no such column.
        """
        columns = list(params["columns"])
        if rows.ndim < 2 or max(columns) >= rows.shape[-1]:
            raise BadInput(
                f"expected a column {max(columns)} (counted from 0), got {parameter.described(rows)}. Choose other columns."
            )
        return rows[..., columns]

    def code(self, name: str, params: Mapping[str, Any]) -> str:
        """numpy's indexing."""
        return f"{name} = np.asarray({name})[..., {list(params['columns'])!r}]"

    def words(self, params: Mapping[str, Any]) -> str:
        """ "4 columns"."""
        count = len(params["columns"])
        return f"column {params['columns'][0]}" if count == 1 else f"{count} columns"


STEP = SelectColumns()
