"""A model or layer of one's own has no `call`."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    if read.says("should return a Tensor"):
        return Cause(
            "call of the layer gives nothing back.",
            Certainty.CERTAIN,
            (Step("Return the tensor.", "def call(self, x):\n    return self.dense(x)"),),
        )
    return Cause(
        "The class derives from a Keras class and has no method named call: it is misspelt (__call__, forward), is indented into another method, or the class was made directly.",
        Certainty.CERTAIN,
        (
            Step(
                "Write it in the class.",
                "class Mine(keras.Model):\n    def call(self, x, training=None):\n        return self.dense(x)",
            ),
        ),
    )


MESSAGE = Message(
    id="call-missing",
    title="A model or layer of one's own has no call",
    wordings=(
        Wording("you should implement a `call", r"subclassing the `(?P<base>\w{1,40})` class"),
        Wording("does not have a `call()` method implemented"),
        Wording("A layer's `call` method should return a Tensor"),
        Wording("Model subclasses must implement `call"),
    ),
    explain=_explain,
    ways=(ways.LAYERS,),
    sources=("https://github.com/keras-team/keras/blob/master/keras/src/models/model.py",),
    rank=-1,
)
