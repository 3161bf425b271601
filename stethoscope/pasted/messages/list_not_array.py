"""A list was given where an array is wanted."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    attribute = read.get("attribute", "shape")
    return Cause(
        f"A Python {read.get('kind', 'list')} has no “{attribute}”; an array or a tensor is wanted here. Several inputs in a list, or rows that were collected, are not one array.",
        Certainty.LIKELY,
        (
            Step("Make an array of rows that have one shape.", "x = np.stack(rows)   # or np.array(rows, 'float32')"),
            Step("Where several inputs are meant, take one of them.", "print(type(x), len(x))"),
        ),
    )


MESSAGE = Message(
    id="list-not-array",
    title="A list was given where an array is wanted",
    wordings=(
        Wording(
            "' object has no attribute",
            r"'(?P<kind>list|tuple)' object has no attribute '(?P<attribute>shape|dtype|ndim|reshape|astype|get_shape|numpy|size|op|rank)'",
        ),
    ),
    explain=_explain,
    ways=(ways.DATA,),
    sources=("https://numpy.org/doc/stable/reference/generated/numpy.stack.html",),
)
