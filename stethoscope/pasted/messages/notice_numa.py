"""The card's NUMA node is not known."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Role, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        "The system does not say which processor the card is nearest to (virtual machines, WSL). It is no error.",
        Certainty.CERTAIN,
    )


MESSAGE = Message(
    id="notice-numa",
    title="The card's NUMA node is not known",
    wordings=(
        Wording("successful NUMA node read from SysFS had negative value"),
        Wording("could not open file to read NUMA node"),
        Wording("Your kernel may have been built without NUMA support"),
    ),
    explain=_explain,
    ways=(ways.DOCTOR,),
    sources=("https://github.com/tensorflow/tensorflow/issues/47606",),
    role=Role.NOTICE,
)
