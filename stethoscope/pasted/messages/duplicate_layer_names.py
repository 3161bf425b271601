"""Two layers have one name."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    name = read.get("layer", "a name")
    return Cause(
        f"The name “{name}” is given to {read.get('times', 'several')} layers; each layer of a model needs a name of its own. It often comes from two models of one kind joined in one, or from a name set in a loop.",
        Certainty.CERTAIN,
        (
            Step("Leave names out, or make them differ.", f"keras.layers.Dense(4, name=f'{name}_{{number}}')"),
            Step("Two copies of one model: name the models.", "first = keras.Model(inputs, outputs, name='first')"),
        ),
    )


MESSAGE = Message(
    id="duplicate-layer-names",
    title="Two layers have one name",
    wordings=(
        Wording(
            "All operation names should be unique",
            r"The name \"?(?P<layer>[\w./-]{1,80})\"? is used (?P<times>\d{1,4}) times",
        ),
        Wording(
            "All layer names should be unique",
            r"The name \"?(?P<layer>[\w./-]{1,80})\"? is used (?P<times>\d{1,4}) times",
        ),
        Wording("All layers added to a Sequential model should have unique names", r"Name \"?(?P<layer>[\w./-]{1,80})"),
    ),
    explain=_explain,
    ways=(ways.LAYERS,),
    sources=(
        "https://github.com/keras-team/keras/blob/master/keras/src/ops/function.py",
        "https://github.com/keras-team/keras/blob/master/keras/src/models/sequential.py",
    ),
)
