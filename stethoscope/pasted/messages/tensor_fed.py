"""A tensor was fed where an array is wanted."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        "feed_dict takes arrays and numbers; a tensor of the graph was given, which has no value yet.",
        Certainty.CERTAIN,
        (
            Step(
                "Compute it first, then feed the result.",
                "images, labels = session.run([image_batch, label_batch])\nsession.run(train, feed_dict={x: images, y: labels})",
            ),
            Step("Or use the tensor as the input, without a placeholder."),
        ),
    )


MESSAGE = Message(
    id="tensor-fed",
    title="A tensor was fed where an array is wanted",
    wordings=(Wording("The value of a feed cannot be a tf.Tensor object"),),
    explain=_explain,
    ways=(ways.DATA,),
    sources=("https://github.com/neuleaf/MobileNetV2/issues/10",),
)
