"""The driver of the card is older than this CUDA wants."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    if "kernel" in read:
        return Cause(
            f"The driver in the running kernel is {read.get('kernel')} and its library is {read.get('library')}: the driver was updated and the machine not started anew since, or a container brings a library of its own.",
            Certainty.LIKELY,
            (
                Step("Start the machine anew, then look.", "nvidia-smi"),
                Step("Leave the driver's library out of the container's image; the container toolkit hands it in."),
            ),
        )
    return Cause(
        "The CUDA that this TensorFlow was built with wants a newer driver than the machine has (or the driver is not to be seen: a container without it, a second CUDA of conda that is newer).",
        Certainty.CERTAIN,
        (
            Step("See the driver, and the highest CUDA it serves (top right).", "nvidia-smi"),
            Step("Install a newer driver, or a TensorFlow that was built with an older CUDA."),
            Step("In a container: hand the card in.", "docker run --gpus all …"),
        ),
    )


MESSAGE = Message(
    id="cuda-driver-old",
    title="The driver of the card is older than this CUDA wants",
    wordings=(
        Wording("CUDA driver version is insufficient for CUDA runtime version", unless="torch"),
        Wording(
            "kernel version",
            r"kernel version (?P<kernel>[\d.]{1,16}) does not match DSO version (?P<library>[\d.]{1,16})",
        ),
    ),
    explain=_explain,
    ways=(ways.DOCTOR, ways.CARD),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/41401",
        "https://github.com/tensorflow/tensorflow/issues/31319",
        "https://github.com/google-research/bert/issues/285",
    ),
)
