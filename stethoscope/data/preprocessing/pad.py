"""Sequences of one length: short ones filled up, long ones cut."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from stethoscope.data.preprocessing import parameter
from stethoscope.data.preprocessing.parameter import Parameter, StepKind

if TYPE_CHECKING:
    import numpy.typing as npt

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


STEP = Pad()
