"""XLA was started."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Role, Wording


def _explain(read: Read) -> Cause:
    return Cause("TensorFlow says that its compiler is ready. It is no error.", Certainty.CERTAIN)


MESSAGE = Message(
    id="notice-xla-service",
    title="XLA was started",
    wordings=(
        Wording("(this does not guarantee that XLA will be used)"),
        Wording("Compiled cluster using XLA!"),
        Wording("disabling MLIR crash reproducer"),
    ),
    explain=_explain,
    ways=(ways.DOCTOR,),
    sources=("https://github.com/tensorflow/tensorflow/issues/63209",),
    role=Role.NOTICE,
)
