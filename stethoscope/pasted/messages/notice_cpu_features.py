"""Which instructions of the processor TensorFlow uses."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Role, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        "TensorFlow says at its start which instructions of the processor it uses or could use. It is no error.",
        Certainty.CERTAIN,
    )


MESSAGE = Message(
    id="notice-cpu-features",
    title="Which instructions of the processor TensorFlow uses",
    wordings=(
        Wording("This TensorFlow binary is optimized"),
        Wording("Your CPU supports instructions that this TensorFlow binary was not compiled to use"),
        Wording("The TensorFlow library wasn't compiled to use"),
    ),
    explain=_explain,
    ways=(ways.DOCTOR,),
    sources=(
        "https://github.com/keras-team/keras/issues/7226",
        "https://github.com/tensorflow/tensorflow/issues/56927",
    ),
    role=Role.NOTICE,
)
