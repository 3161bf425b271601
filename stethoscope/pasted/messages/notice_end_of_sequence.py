"""The end of a data set."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Role, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        "A data set came to its end, or its reading was stopped early; TensorFlow logs it. It is no error by itself.",
        Certainty.CERTAIN,
    )


MESSAGE = Message(
    id="notice-end-of-sequence",
    title="The end of a data set",
    wordings=(
        Wording("OUT_OF_RANGE: End of sequence"),
        Wording("this does not indicate an error and you can ignore this message"),
        Wording("The calling iterator did not fully read the dataset being cached"),
    ),
    explain=_explain,
    ways=(ways.DOCTOR,),
    sources=("https://github.com/tensorflow/tensorflow/issues/60790",),
    role=Role.NOTICE,
)
