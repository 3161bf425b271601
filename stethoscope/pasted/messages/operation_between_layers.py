"""An operation between two layers is no layer."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        "Between two layers stands an operation that is no layer (a call of K. or tf., an index, +), so the way from output to input is broken there. Keras before 2.4 follows layers only.",
        Certainty.LIKELY,
        (
            Step(
                "Make it a layer.",
                "x = keras.layers.Lambda(lambda t: K.expand_dims(t, -1))(x)\nx = keras.layers.Add()([a, b])",
            ),
            Step("A newer Keras takes operations of keras.ops as they are."),
        ),
    )


MESSAGE = Message(
    id="operation-between-layers",
    title="An operation between two layers is no layer",
    wordings=(
        Wording("has no attribute '_inbound_nodes'"),
        Wording("has no attribute 'inbound_nodes'"),
        Wording("Output tensors to a Model must be the output of a"),
    ),
    explain=_explain,
    ways=(ways.LAYERS,),
    sources=(
        "https://github.com/keras-team/keras/issues/11811",
        "https://github.com/keras-team/keras/issues/10593",
        "https://github.com/keras-team/keras/issues/14028",
    ),
)
