"""A layer that joins wants a list."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    layer = read.layer("A layer that joins (Add, Concatenate …)")
    return Cause(
        f"{layer} was given one tensor, or a list of one, and joins at least two, handed over as one list.",
        Certainty.CERTAIN,
        (Step("One list.", "keras.layers.Add()([a, b])   # not Add()(a, b)"),),
    )


MESSAGE = Message(
    id="merge-needs-list",
    title="A layer that joins wants a list",
    wordings=(
        Wording("merge layer should be called on a list of"),
        Wording("should be called on a list of inputs"),
        Wording("should be called on a list of at least"),
    ),
    explain=_explain,
    ways=(ways.LAYERS,),
    sources=("https://github.com/keras-team/keras/blob/master/keras/src/layers/merging/base_merge.py",),
)
