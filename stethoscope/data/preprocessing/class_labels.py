"""Steps for labels: class numbers, words and one column per class, each from the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from stethoscope.data.preprocessing import parameter
from stethoscope.data.preprocessing.parameter import Parameter, StepKind
from stethoscope.errors import BadInput, BadSetting

if TYPE_CHECKING:
    import numpy.typing as npt


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


STEPS = (OneHot(), FromOneHot(), ToClassNumbers())
