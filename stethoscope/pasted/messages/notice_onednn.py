"""oneDNN is on."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Role, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        "oneDNN computes in another order, so that the last digits may differ from run to run of another machine. It is no error.",
        Certainty.CERTAIN,
    )


MESSAGE = Message(
    id="notice-onednn",
    title="oneDNN is on",
    wordings=(Wording("oneDNN custom operations are on"),),
    explain=_explain,
    ways=(ways.DOCTOR,),
    sources=("https://github.com/gschramm/pyapetnet/issues/24",),
    role=Role.NOTICE,
)
