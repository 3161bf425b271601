"""A layer was called on something that is no tensor of the model."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    kind, layer = read.get("type", ""), read.layer("A layer")
    look = Step(
        "In functional models everything goes from an Input through layers.",
        "x = keras.Input((28, 28))\ny = keras.layers.Flatten()(x)",
    )
    if ".layers." in kind or "training.Model" in kind or "Sequential" in kind:
        return Cause(
            f"{layer} was given a layer or model ({kind}) instead of its output: it was made and not called.",
            Certainty.LIKELY,
            (Step("Call it.", "x = keras.layers.Concatenate()([a, b])   # not Concatenate([a, b])"), look),
        )
    return Cause(
        f"{layer} was called on {kind or 'something'} that is no tensor of a Keras model: an array, a tensor of the other Keras (keras against tf.keras), or nothing.",
        Certainty.POSSIBLE,
        (
            look,
            Step("All of it from one package.", "from tensorflow import keras   # and nowhere: from keras import …"),
        ),
    )


MESSAGE = Message(
    id="not-symbolic",
    title="A layer was called on something that is no tensor of the model",
    wordings=(
        Wording(
            "was called with an input that isn't a symbolic tensor",
            r"Layer (?P<layer>[\w/.-]{1,80}) was called with an input that isn't a symbolic tensor\. Received type: <class '(?P<type>[\w.]{1,120})'>",
        ),
        Wording("Unexpectedly found an instance of type", r"instance of type `<class '(?P<type>[\w.]{1,120})'>`"),
    ),
    explain=_explain,
    ways=(ways.LAYERS,),
    sources=("https://github.com/rossumai/OCkRE/issues/5",),
)
