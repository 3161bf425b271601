"""A card is too small for one launch."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        "A kernel wants more registers or threads at once than this card gives: usual on small ones (Jetson, old laptops), as builds are made for large ones.",
        Certainty.LIKELY,
        (
            Step(
                "Put the operation that is named onto the processor.",
                "with tf.device('/CPU:0'):\n    x = tf.image.resize(x, (416, 416))",
            ),
            Step("On a Jetson take NVIDIA's own build of TensorFlow."),
        ),
    )


MESSAGE = Message(
    id="launch-resources",
    title="A card is too small for one launch",
    wordings=(Wording("too many resources requested for launch"), Wording("CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES")),
    explain=_explain,
    ways=(ways.CARD,),
    sources=("https://github.com/theAIGuysCode/yolov4-deepsort/issues/49",),
)
