"""The model has no weights yet, as its input shape is not known."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    if "called" in read:
        return Cause(
            "Input or output of a layer or model was asked for, and it was never called on an Input: in Keras 3 a Sequential model has them only once it was called, also where its weights are there (built, or loaded from a file).",
            Certainty.LIKELY,
            (
                Step("Call it on an Input first.", "x = keras.Input((28, 28, 1))\ny = model(x)"),
                Step("Or begin with an Input.", "model = keras.Sequential([keras.Input((28, 28, 1)), …])"),
            ),
        )
    layer = read.layer("The model")
    method = f" {read.get('method')}" if "method" in read else " summary, save, load_weights"
    return Cause(
        f"{layer} does not know the shape of its input yet, so it has no weights;{method} need them.",
        Certainty.CERTAIN,
        (
            Step("Say the shape of the input first.", "model = keras.Sequential([keras.Input((28, 28, 1)), …])"),
            Step("A model of your own class: call it once.", "model(tf.zeros((1, 28, 28, 1)))\nmodel.summary()"),
        ),
    )


MESSAGE = Message(
    id="not-built",
    title="The model has no weights yet, as its input shape is not known",
    wordings=(
        Wording("has not yet been built"),
        Wording(
            "but the layer isn't built",
            r"(?:tried to call `?(?P<method>\w{1,40})`? on )(?:layer )?'?(?P<layer>[\w.-]{1,80})'?,? but the layer isn't built",
        ),
        Wording("has never been called", r"(?P<called>layer .{0,80}has never been called)"),
        Wording("Weights for model", r"Weights for model '?(?P<layer>[\w.-]{1,60})'? have not yet been created"),
        Wording("The layer has never been called and thus has no defined", r"(?P<called>never been called)"),
        Wording("has no defined input shape"),
        Wording("has never been called and thus has no defined", r"(?P<called>never been called)"),
        Wording("cannot be saved because the input shapes have not been set"),
        Wording("cannot be saved either because the input shape is not available"),
        Wording("has no inbound nodes", r"(?P<called>no inbound nodes)"),
        Wording("cannot be exported because it has not been built"),
    ),
    explain=_explain,
    ways=(ways.DESCRIBE, ways.LAYERS),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/33244",
        "https://github.com/tensorflow/recommenders/issues/540",
        "https://github.com/keras-team/keras/issues/10970",
    ),
)
