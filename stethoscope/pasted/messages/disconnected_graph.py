"""An output cannot be reached from the inputs of the model."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    if read.says("Output tensors of a Functional model must be the output of a TensorFlow `Layer`"):
        return Cause(
            "An output of the model does not come out of a layer: a plain operation of TensorFlow after the last layer, an array, or a tensor of another Keras (keras and tf.keras mixed).",
            Certainty.LIKELY,
            (Step("Make the last operation a layer.", "outputs = keras.layers.Lambda(lambda t: t * 2)(x)"),),
        )
    layer = f" It is missing before {read.layer()}." if "layer" in read else ""
    return Cause(
        f"keras.Model(inputs, outputs) needs every Input that the outputs come from, and one of them is not in the list (or the outputs come from another model's Input).{layer}",
        Certainty.CERTAIN,
        (
            Step("Give all inputs.", "model = keras.Model([first, other], outputs)"),
            Step(
                "To go on from a ready model, begin with its input.",
                "x = base.output\nmodel = keras.Model(base.input, keras.layers.Dense(10)(x))",
            ),
        ),
    )


MESSAGE = Message(
    id="disconnected-graph",
    title="An output cannot be reached from the inputs of the model",
    wordings=(
        Wording("Graph disconnected: cannot obtain value for tensor", r"at layer \"?(?P<layer>[\w./-]{1,80})"),
        Wording("Graph disconnected: cannot obtain value for tensor"),
        Wording("is not connected to `inputs`", r"with path `(?P<path>[^`]{0,80})` is not connected"),
        Wording("Output tensors of a Functional model must be the output of a TensorFlow `Layer`"),
    ),
    explain=_explain,
    ways=(ways.LAYERS,),
    sources=(
        "https://github.com/keras-team/keras/issues/13722",
        "https://github.com/keras-team/keras/issues/8166",
        "https://github.com/tensorflow/tensorflow/issues/44608",
    ),
)
