"""Steps for rows of a table or a sequence: columns chosen, gaps filled, one length."""

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


_SIDES = ("pre", "post")


class Pad(StepKind):
    """Sequences of one length: short ones filled up, long ones cut.

    Along the first axis of a row (time). "pre" and "post" are as in Keras: at the start, at the end.

    Source: keras.utils.pad_sequences.
    """

    id = "pad"
    title = "Pad or cut sequences"
    parameters = (
        Parameter("length", "Length", "count", least=1, most=100_000_000),
        Parameter("value", "Fill with", "number", 0.0),
        Parameter(
            "side", "Fill at", "choice", "post", choices=_SIDES, help="pre: before the sequence; post: behind it"
        ),
        Parameter("cut", "Cut at", "choice", "post", choices=_SIDES, help="Where long sequences lose their values"),
    )

    def apply(self, rows: npt.NDArray[Any], params: Mapping[str, Any]) -> npt.NDArray[Any]:
        """Returns rows of `length` values, in the same dtype."""
        import numpy as np

        parameter.numbers(rows)
        parameter.rank(rows, tuple(range(2, 8)), "sequences")
        length, have = params["length"], rows.shape[1]
        if have > length:
            return rows[:, have - length :] if params["cut"] == "pre" else rows[:, :length]
        more = (length - have, 0) if params["side"] == "pre" else (0, length - have)
        widths = [(0, 0), more, *[(0, 0)] * (rows.ndim - 2)]
        return np.pad(rows, widths, constant_values=np.asarray(params["value"]).astype(rows.dtype))

    def code(self, name: str, params: Mapping[str, Any]) -> str:
        """Keras' own function."""
        return (
            f"{name} = keras.utils.pad_sequences(\n"
            f"    {name}, maxlen={params['length']}, dtype=np.asarray({name}[0]).dtype.name, padding={params['side']!r},\n"
            f"    truncating={params['cut']!r}, value={params['value']!r},\n)"
        )

    def words(self, params: Mapping[str, Any]) -> str:
        """ "length 128"."""
        return f"length {params['length']:,}"


STEPS = (SelectColumns(), FillMissing(), Pad())
