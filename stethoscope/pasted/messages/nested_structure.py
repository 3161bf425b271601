"""Two nested values are built differently."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        "Two values that have to be nested alike are not: the branches of a condition, the values before and after a loop, a state and its update, the targets and the outputs, or a list where the other is a tuple or a dict.",
        Certainty.CERTAIN,
        (
            Step(
                "The message shows both: First structure, Second structure. Compare the kinds of brackets too.",
                "tf.nest.assert_same_structure(a, b)",
            ),
            Step("Let both branches return the same.", "return x, y   # in each branch"),
        ),
    )


MESSAGE = Message(
    id="nested-structure",
    title="Two nested values are built differently",
    wordings=(
        Wording("don't have the same nested structure"),
        Wording("don't have the same sequence type"),
        Wording("don't have the same sequence length"),
    ),
    explain=_explain,
    ways=(ways.LAYERS,),
    sources=("https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/python/util/nest.py",),
)
