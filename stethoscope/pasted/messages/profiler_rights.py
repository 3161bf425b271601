"""The profiler may not count on this card."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Role, Step, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        "NVIDIA's driver lets only administrators read the counters of a card, so the profiler of the TensorBoard callback records nothing of it. The training itself goes on.",
        Certainty.CERTAIN,
        (
            Step("Without it.", "keras.callbacks.TensorBoard('logs', profile_batch=0)"),
            Step(
                "Allow it to all (then restart).",
                "echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' | sudo tee /etc/modprobe.d/nvidia-profiler.conf",
            ),
            Step("In a container.", "docker run --cap-add=SYS_ADMIN --gpus all …"),
        ),
    )


MESSAGE = Message(
    id="profiler-rights",
    title="The profiler may not count on this card",
    wordings=(Wording("CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"),),
    explain=_explain,
    ways=(ways.CARD,),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/35860",
        "https://github.com/tensorflow/tensorflow/issues/39143",
        "https://github.com/PaddlePaddle/Paddle/issues/35857",
    ),
    role=Role.WARNING,
)
