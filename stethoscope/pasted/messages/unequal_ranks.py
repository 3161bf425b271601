"""Two tensors that have to have the same number of axes."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    first, second = read.get("first"), read.get("second")
    told = f"One has {first} axes and the other {second}" if first and second else "They have different shapes"
    return Cause(
        f"{told}, and this operation (a stack, a merge, a select, or a loss that compares labels with an output) wants tensors of one shape.",
        Certainty.LIKELY,
        (
            Step("See both.", "print(a.shape, b.shape)"),
            Step("Add or drop the axis.", "a = tf.expand_dims(a, -1)   # or tf.squeeze(a, -1)"),
            Step(
                "Labels: one-hot for categorical_crossentropy, class numbers for the sparse one.",
                "print(y.shape, model.output_shape)",
            ),
        ),
    )


MESSAGE = Message(
    id="unequal-ranks",
    title="Two tensors that have to have the same number of axes",
    wordings=(
        Wording("must be equal rank", r"must be equal rank, but are (?P<first>\d{1,2}) and (?P<second>\d{1,2})"),
        Wording("Shapes of all inputs must match"),
    ),
    explain=_explain,
    ways=(ways.LAYERS, ways.DATA),
    sources=("https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/core/framework/shape_inference.cc",),
)
