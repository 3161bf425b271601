"""Metrics that are built later."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Role, Wording


def _explain(read: Read) -> Cause:
    return Cause("Metrics have no state until the first batch. It is no error.", Certainty.CERTAIN)


MESSAGE = Message(
    id="notice-compiled-metrics",
    title="Metrics that are built later",
    wordings=(Wording("Compiled the loaded model, but the compiled metrics have yet to be built"),),
    explain=_explain,
    ways=(ways.DOCTOR,),
    sources=("https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/python/keras/saving/saving_utils.py",),
    role=Role.NOTICE,
)
