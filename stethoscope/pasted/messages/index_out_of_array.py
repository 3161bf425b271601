"""An array or list is asked for more than it has."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    if "asked" in read:
        return Cause(
            f"The array has {read.get('axes')} axes, and {read.get('asked')} indices were given. Often rows of different lengths made it one of lists, or an axis is missing.",
            Certainty.CERTAIN,
            (Step("See its shape and type.", "print(x.shape, x.dtype)"),),
        )
    if "tuple" in read:
        return Cause(
            "A shape has fewer axes than the line asks of it: a number where a tuple is wanted, an axis that is missing (grey pictures, one row), or input_shape without it.",
            Certainty.LIKELY,
            (Step("See the shape.", "print(x.shape)"),),
        )
    return Cause(
        "A list is shorter than the line takes it to be: no files were found, a folder or a batch is empty, or no device is visible.",
        Certainty.POSSIBLE,
        (Step("Print its length where it is made.", "print(len(items), items[:3])"),),
    )


MESSAGE = Message(
    id="index-out-of-array",
    title="An array is asked for more than it has",
    wordings=(
        Wording(
            "too many indices for array", r"array is (?P<axes>\d{1,2})-dimensional, but (?P<asked>\d{1,2}) were indexed"
        ),
        Wording("too many indices for array"),
        Wording("IndexError: list index out of range", beside="ensorflow"),
        Wording("IndexError: list index out of range", beside="keras"),
        Wording("IndexError: tuple index out of range", r"(?P<tuple>tuple)"),
    ),
    explain=_explain,
    ways=(ways.DATA,),
    sources=("https://numpy.org/doc/stable/user/basics.indexing.html",),
    rank=-3,
    general=True,
)
