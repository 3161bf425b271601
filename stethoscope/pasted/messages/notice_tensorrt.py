"""TensorRT is not installed."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Role, Wording


def _explain(read: Read) -> Cause:
    return Cause("TensorRT is an addition that few programs use; without it all else works.", Certainty.CERTAIN)


MESSAGE = Message(
    id="notice-tensorrt",
    title="TensorRT is not installed",
    wordings=(
        Wording("TF-TRT Warning: Could not find TensorRT"),
        Wording("Could not load dynamic library 'libnvinfer"),
    ),
    explain=_explain,
    ways=(ways.DOCTOR,),
    sources=("https://github.com/againerju/tcg_recognition/issues/2",),
    role=Role.NOTICE,
)
