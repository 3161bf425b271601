"""Keras cannot find out what a layer gives."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    if "lambda" in read or "reason" in read:
        reason = read.get("reason")
        return Cause(
            f"The function of a Lambda layer failed or its result's shape is not known{f': “{reason}”' if reason else ''}. A loaded Lambda has none of the names that stood around it (tf, K, np), and Keras 3 runs it once on a stand-in.",
            Certainty.LIKELY,
            (
                Step(
                    "Say the shape; import inside of the function.",
                    "def scale(x):\n    import tensorflow as tf\n    return tf.image.resize(x, (64, 64))\nkeras.layers.Lambda(scale, output_shape=(64, 64, 3))",
                ),
                Step(
                    "Better: a layer of one's own, registered.",
                    "@keras.saving.register_keras_serializable()\nclass Scale(keras.layers.Layer):\n    def call(self, x):\n        return keras.ops.image.resize(x, (64, 64))",
                ),
            ),
        )
    return Cause(
        f"Keras runs call of {read.layer('a layer of your own')} once on a stand-in without values, to see what it gives; that failed. Below “Exception encountered” stands why.",
        Certainty.LIKELY,
        (
            Step(
                "Say it yourself.",
                "def compute_output_shape(self, input_shape):\n    return (*input_shape[:-1], self.units)",
            ),
            Step("Operations of keras.ops take stand-ins; NumPy, .numpy() and if on values do not."),
        ),
    )


MESSAGE = Message(
    id="output-shape-unknown",
    title="Keras cannot find out what a layer gives",
    wordings=(
        Wording(
            "Could not automatically infer the output shape",
            r"output shape / dtype of '(?P<layer>[\w.-]{1,80})' \(of type (?P<kind>\w{1,80})\)",
        ),
        Wording("We could not automatically infer the shape of the Lambda's output", r"(?P<lambda>Lambda)"),
        Wording("We could not automatically infer the static shape of", r"(?P<lambda>Lambda)?"),
        Wording(
            "Exception encountered when calling Lambda.call()",
            r"Lambda\.call\(\)\.? (?P<reason>[^\n]{1,160}?)(?: Arguments|$)",
        ),
    ),
    explain=_explain,
    ways=(ways.LAYERS,),
    sources=("https://github.com/keras-team/keras/blob/master/keras/src/layers/layer.py",),
    rank=-1,
)
