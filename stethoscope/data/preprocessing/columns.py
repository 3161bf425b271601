"""Steps for rows of a table or a sequence: columns chosen, gaps filled, one length.

Steps for labels: class numbers, words and one column per class, each from the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from stethoscope.data.preprocessing import parameter
from stethoscope.data.preprocessing.parameter import Parameter, StepKind
from stethoscope.errors import BadInput, BadSetting

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


class OneHot(StepKind):
    """Class numbers to one column per class.

    1 in the column of the class, 0 in the others; float32. A last axis of 1 is taken away first, as Keras does.

    Source: keras.utils.to_categorical.
    """

    id = "one_hot"
    title = "One-hot"
    parameters = (Parameter("classes", "Number of classes", "count", least=1, most=100_000),)

    def apply(self, rows: npt.NDArray[Any], params: Mapping[str, Any]) -> npt.NDArray[Any]:
        """Returns float32 with one more axis, of size `classes`.

        Raises:
            BadInput: text, fractions, or a number outside 0 … classes − 1.
        """
        import numpy as np

        parameter.numbers(rows)
        if rows.ndim > 1 and rows.shape[-1] == 1:
            rows = rows[..., 0]
        classes = int(params["classes"])
        wrong = (rows < 0) | (rows >= classes) | (rows != np.floor(rows))
        if wrong.any():
            shown = rows[wrong].flat[0]
            raise BadInput(
                f"expected class numbers from 0 to {classes - 1}, got {shown}. Change the number of classes."
            )
        columns: npt.NDArray[Any] = rows[..., None] == np.arange(classes)
        return columns.astype("float32")

    def code(self, name: str, params: Mapping[str, Any]) -> str:
        """Keras' own function."""
        return f'{name} = keras.utils.to_categorical({name}, num_classes={params["classes"]}).astype("float32")'

    def words(self, params: Mapping[str, Any]) -> str:
        """ "one-hot, 10 classes"."""
        return f"one-hot, {params['classes']} classes"


class FromOneHot(StepKind):
    """One column per class to class numbers.

    The column with the largest value.
    """

    id = "from_one_hot"
    title = "One-hot to class numbers"

    def apply(self, rows: npt.NDArray[Any], params: Mapping[str, Any]) -> npt.NDArray[Any]:
        """Returns int64 without the last axis."""
        parameter.numbers(rows)
        parameter.rank(rows, tuple(range(2, 9)), "one column per class")
        numbers: npt.NDArray[Any] = rows.argmax(-1)
        return numbers

    def code(self, name: str, params: Mapping[str, Any]) -> str:
        """numpy's argmax."""
        return f"{name} = np.argmax({name}, axis=-1)"

    def words(self, params: Mapping[str, Any]) -> str:
        """ "one-hot to numbers"."""
        return "one-hot to numbers"


_SHOWN = 60


class ToClassNumbers(StepKind):
    """Labels in words (or any numbers) to numbers from 0.

    A label's place in the list of classes; int64. Whole numbers are compared as written: 3 and 3.0 are "3".
    """

    id = "to_class_numbers"
    title = "To class numbers"
    parameters = (Parameter("classes", "Classes in order", "texts", help="One per line; the first becomes 0"),)

    def checked(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Also: no class twice."""
        found = super().checked(params)
        if len(set(found["classes"])) != len(found["classes"]):
            raise BadSetting("Step to_class_numbers: expected each class once, got one twice. Remove it.")
        return found

    def apply(self, rows: npt.NDArray[Any], params: Mapping[str, Any]) -> npt.NDArray[Any]:
        """Returns int64 of the same shape.

        Raises:
            BadInput: a label that is not among the classes.
        """
        import numpy as np

        places = {name: place for place, name in enumerate(params["classes"])}
        distinct, inverse = np.unique(rows, return_inverse=True)
        numbers = np.empty(len(distinct), "int64")
        for at, label in enumerate(distinct.tolist()):
            place = places.get(_text(label))
            if place is None:
                raise BadInput(
                    f"expected one of the {len(places)} classes given, got {_text(label)[:_SHOWN]!r}. Add it to the classes."
                )
            numbers[at] = place
        return numbers[inverse].reshape(rows.shape)

    def code(self, name: str, params: Mapping[str, Any]) -> str:
        """A dictionary and a look-up."""
        return (
            f"classes = {{label: number for number, label in enumerate({list(params['classes'])!r})}}\n"
            f"{name} = np.asarray({name})\n"
            f'text = lambda value: f"{{value:.0f}}" if isinstance(value, float) and value.is_integer() else str(value)\n'
            f"{name} = np.array([classes[text(value)] for value in {name}.ravel().tolist()]).reshape({name}.shape)"
        )

    def words(self, params: Mapping[str, Any]) -> str:
        """ "3 classes to 0 … 2"."""
        return f"{len(params['classes'])} classes to 0 … {len(params['classes']) - 1}"


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return f"{value:.0f}" if isinstance(value, float) and value.is_integer() else str(value)


STEPS = (SelectColumns(), FillMissing(), Pad(), OneHot(), FromOneHot(), ToClassNumbers())
