"""HDF5 is the older format."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Role, Wording


def _explain(read: Read) -> Cause:
    return Cause("The file is saved; Keras only recommends .keras instead.", Certainty.CERTAIN)


MESSAGE = Message(
    id="notice-hdf5",
    title="HDF5 is the older format",
    wordings=(Wording("You are saving your model as an HDF5 file"),),
    explain=_explain,
    ways=(ways.DOCTOR,),
    sources=("https://github.com/keras-team/keras/issues/19375",),
    role=Role.NOTICE,
)
