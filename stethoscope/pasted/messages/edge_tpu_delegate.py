"""The Edge TPU's library was not loaded."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        f"{read.get('library', 'libedgetpu.so.1')} could not be loaded: the Edge TPU runtime is not installed, the device is not plugged in or not allowed for this user, another process has it, or the library is of another version than the TFLite runtime.",
        Certainty.LIKELY,
        (
            Step("Install the runtime, and plug the device in again.", "sudo apt install libedgetpu1-std"),
            Step("See whether the device is there (1a6e:089a, after its first use 18d1:9302).", "lsusb"),
            Step(
                "Run on the processor for now: the file without the part that was compiled for the Edge TPU.",
                "interpreter = Interpreter('model.tflite')",
            ),
        ),
    )


MESSAGE = Message(
    id="edge-tpu-delegate",
    title="The Edge TPU's library was not loaded",
    wordings=(Wording("Failed to load delegate from", r"Failed to load delegate from (?P<library>[^\s']{1,100})"),),
    explain=_explain,
    ways=(ways.DESCRIBE,),
    sources=("https://github.com/google-coral/edgetpu/issues/756", "https://coral.ai/docs/accelerator/get-started/"),
)
