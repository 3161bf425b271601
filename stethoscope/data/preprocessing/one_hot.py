"""Class numbers to one column per class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from stethoscope.data.preprocessing import parameter
from stethoscope.data.preprocessing.parameter import Parameter, StepKind
from stethoscope.errors import BadInput

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


STEP = OneHot()
