"""A function runs as it is."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Role, Step, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        "AutoGraph could not read the source of a function and runs it as it is. It matters only where Python's if, for and while are to become part of the graph.",
        Certainty.CERTAIN,
        (
            Step(
                "Where nothing is to be translated, say so.",
                "@tf.autograph.experimental.do_not_convert\ndef prepare(x): …",
            ),
        ),
    )


MESSAGE = Message(
    id="notice-autograph",
    title="A function runs as it is",
    wordings=(
        Wording("AutoGraph could not transform"),
        Wording("could not be transformed and will be executed as-is"),
        Wording("AutoGraph could not be transformed"),
    ),
    explain=_explain,
    ways=(ways.DOCTOR,),
    sources=("https://github.com/keras-team/keras-io/issues/234",),
    role=Role.NOTICE,
)
