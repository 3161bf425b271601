"""A Lambda layer makes or uses a weight."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        f"A function in the Lambda layer {read.layer('')} makes or uses a variable, and a Lambda keeps none: it would not be trained or saved.".replace(
            "layer  makes", "layer makes"
        ),
        Certainty.CERTAIN,
        (
            Step(
                "A layer of one's own keeps it.",
                "class Anchors(keras.layers.Layer):\n    def __init__(self, values, **settings):\n        super().__init__(**settings)\n        self.values = tf.Variable(values, trainable=False)\n    def call(self, x):\n        return self.values",
            ),
            Step("A constant needs no variable.", "keras.layers.Lambda(lambda x: tf.constant(values))"),
        ),
    )


MESSAGE = Message(
    id="lambda-variables",
    title="A Lambda layer makes or uses a weight",
    wordings=(
        Wording("Variables were created within a Lambda layer", r"Lambda layer \((?P<layer>[\w./-]{1,80})\)"),
        Wording("Variables were used a Lambda layer's call", r"Lambda layer's call \((?P<layer>[\w./-]{1,80})\)"),
    ),
    explain=_explain,
    ways=(ways.LAYERS,),
    sources=("https://github.com/matterport/Mask_RCNN/issues/1930",),
)
