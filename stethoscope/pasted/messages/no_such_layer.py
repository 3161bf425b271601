"""The model has no layer of this name."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    if "index" in read:
        return Cause(
            f"Layer number {read.get('index')} was asked of a model that has {read.get('count')}: a model inside of it counts as one layer.",
            Certainty.CERTAIN,
            (Step("See them.", "for number, layer in enumerate(model.layers):\n    print(number, layer.name)"),),
        )
    return Cause(
        f"No layer of the model is named {read.layer('as asked')}. Names get a number that counts on in a process (dense, dense_1, …), so they differ between runs; a layer of a model inside belongs to that model.",
        Certainty.CERTAIN,
        (
            Step(
                "See the names; ask the inner model for its own.",
                "print([layer.name for layer in model.layers])\nmodel.get_layer('resnet50').get_layer('conv5_block3_out')",
            ),
            Step("Give a name that stays.", "keras.layers.Dense(10, name='features')"),
        ),
    )


MESSAGE = Message(
    id="no-such-layer",
    title="The model has no layer of this name",
    wordings=(
        Wording(
            "No such layer:",
            r"No such layer: (?P<layer>[^\s.]{1,100})(?:\. Existing layers are: \[?(?P<existing>[^\]]{1,300}))?",
        ),
        Wording(
            "Was asked to retrieve layer at index",
            r"layer at index (?P<index>-?\d{1,6}) but model only has (?P<count>\d{1,6}) layers?",
        ),
    ),
    explain=_explain,
    ways=(ways.LAYERS,),
    sources=("https://github.com/keras-team/keras/blob/master/keras/src/models/model.py",),
)
