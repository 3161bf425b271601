"""Rows of different shapes cannot be one batch."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import SHAPE, Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    found, wanted = read.get("found", "another shape"), read.get("wanted", "one shape")
    return Cause(
        f"The first row of the batch is {wanted} and another is {found}; rows of one batch have one shape.",
        Certainty.CERTAIN,
        (
            Step(
                "Pictures: resize before batching.",
                "dataset = dataset.map(lambda image, label: (tf.image.resize(image, (224, 224)), label)).batch(32)",
            ),
            Step("Sequences: pad within the batch.", "dataset = dataset.padded_batch(32)"),
            Step(
                "Pictures with and without colour: say the channels.",
                "tf.io.decode_image(data, channels=3, expand_animations=False)",
            ),
        ),
    )


MESSAGE = Message(
    id="batch-of-unequal",
    title="Rows of different shapes cannot be one batch",
    wordings=(
        Wording(
            "Cannot add tensor to the batch: number of elements does not match",
            rf"Shapes are: \[tensor\]: (?P<found>{SHAPE}), \[batch\]: (?P<wanted>{SHAPE})",
        ),
        Wording(
            "Cannot batch tensors with different shapes in component",
            rf"in component (?P<component>\d{{1,4}})\. First element had shape (?P<wanted>{SHAPE}) and element (?P<element>\d{{1,9}}) had shape (?P<found>{SHAPE})",
        ),
    ),
    explain=_explain,
    ways=(ways.DATA,),
    sources=("https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/core/data/dataset_utils.cc",),
)
