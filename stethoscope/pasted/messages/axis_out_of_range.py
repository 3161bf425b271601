"""An axis is named that the tensor does not have."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    axis, rank = read.get("axis", "The axis"), read.get("rank")
    told = f"The tensor has {rank} axes, counted from 0." if rank else "Axes are counted from 0."
    return Cause(
        f"Axis {axis} does not exist. {told} Often the batch axis was forgotten, or an axis was lost before.",
        Certainty.CERTAIN,
        (
            Step("See the shape there.", "print(x.shape)"),
            Step("Count from the end: it stays right with and without a batch.", "tf.reduce_mean(x, axis=-1)"),
        ),
    )


MESSAGE = Message(
    id="axis-out-of-range",
    title="An axis is named that the tensor does not have",
    wordings=(
        Wording(
            "Invalid reduction dimension",
            r"Invalid reduction dimension \(?(?P<axis>-?\d{1,3}).{0,20}? for input with (?P<rank>\d{1,2}) dimension",
        ),
        Wording(
            "Expected dimension in the range",
            r"Expected dimension in the range \[-?\d{1,3}, ?(?P<rank>\d{1,2})\),? but got (?P<axis>-?\d{1,3})",
        ),
        Wording(
            "is out of bounds for array of dimension",
            r"axis (?P<axis>-?\d{1,3}) is out of bounds for array of dimension (?P<rank>\d{1,2})",
        ),
        Wording(
            "must be in the range [-",
            r"(?:axis|dim)\w{0,5}`? .{0,20}must be in the range \[-\d{1,2}, ?(?P<rank>\d{1,2})\)",
        ),
    ),
    explain=_explain,
    ways=(ways.LAYERS,),
    sources=("https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/core/kernels/reduction_ops_common.cc",),
)
