"""No driver of CUDA on this machine."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Role, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        "There is no driver of a GPU here, and TensorFlow runs on the processor. On a machine without a card it means nothing; with one, the driver is missing.",
        Certainty.CERTAIN,
    )


MESSAGE = Message(
    id="notice-no-cuda",
    title="No driver of CUDA on this machine",
    wordings=(
        Wording("Could not find cuda drivers on your machine"),
        Wording("Ignore above cudart dlerror if you do not have a GPU set up on your machine"),
        Wording("failed call to cuInit"),
        Wording("kernel driver does not appear to be running on this host"),
        Wording("Could not load dynamic library 'libcudart", unless="Skipping registering GPU devices"),
        Wording("Could not load dynamic library 'cudart64", unless="Skipping registering GPU devices"),
        Wording("Could not load dynamic library 'nvcuda.dll'", unless="Skipping registering GPU devices"),
    ),
    explain=_explain,
    ways=(ways.DOCTOR,),
    sources=("https://github.com/openxla/xla/blob/main/xla/tsl/cuda/cudart_stub.cc",),
    role=Role.NOTICE,
)
