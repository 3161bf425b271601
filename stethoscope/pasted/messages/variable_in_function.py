"""A weight is made inside of a traced function."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        "tf.function may make variables only the first time it is called, and here they are made again: a layer, an optimizer or a metric made inside of it or of a layer's call, one function for two models or two optimizers, or a map that builds layers.",
        Certainty.CERTAIN,
        (
            Step(
                "Make layers, optimizers and metrics outside, once.",
                "class Block(keras.layers.Layer):\n    def __init__(self):\n        super().__init__()\n        self.dense = keras.layers.Dense(8)\n    def call(self, x):\n        return self.dense(x)",
            ),
            Step(
                "A function for each model or optimizer.",
                "step = tf.function(train_step)   # made anew for the second one",
            ),
            Step(
                "An optimizer of its own: build it before the function runs.",
                "optimizer.build(model.trainable_variables)",
            ),
        ),
    )


MESSAGE = Message(
    id="variable-in-function",
    title="A weight is made inside of a traced function",
    wordings=(
        Wording("Creating variables on a non-first call to a function"),
        Wording("only supports singleton tf.Variables created on the first call"),
        Wording("tried to create variables on non-first call"),
    ),
    explain=_explain,
    ways=(ways.CHECK,),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/27120",
        "https://github.com/tensorflow/tensorflow/issues/33576",
        "https://www.tensorflow.org/guide/function#creating_tfvariables",
    ),
)
