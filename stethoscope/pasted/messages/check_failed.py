"""A check of the native code ended the program."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    where = (
        f"{read.get('file')} in line {read.get('line')} checks “{read.get('condition').strip()}”"
        if "file" in read
        else "A check of TensorFlow's own C++ code"
    )
    if read.says("0 < gflops"):
        return Cause(
            "TensorFlow could not find the frequency of the processor: a build for another processor is emulated, as that for Intel on an Apple silicon Mac or in a container there.",
            Certainty.LIKELY,
            (
                Step(
                    "Take a Python and a TensorFlow for arm64.",
                    "python -c 'import platform; print(platform.machine())'   # arm64\npython -m pip install tensorflow",
                ),
            ),
        )
    card = (
        " It speaks of the card: memory that is taken, or a driver and libraries that do not fit, are usual."
        if read.says("stream_executor", "cuda", "cudnn", "gpu/", "conv_ops", "GetConvolveAlgorithms")
        else ""
    )
    return Cause(
        f"{where}, and it does not hold; such a check ends the whole program instead of raising an error. Usual are sizes that are negative, too large or of another rank than an operation takes.{card}",
        Certainty.POSSIBLE,
        (
            Step("The last line of your own that ran leads to the operation.", "python -X faulthandler train.py"),
            Step("See the shapes that go in, and try it without the card.", "CUDA_VISIBLE_DEVICES=-1 python train.py"),
            Step("A newer TensorFlow turns many such checks into errors.", "pip install -U tensorflow"),
        ),
    )


MESSAGE = Message(
    id="check-failed",
    title="A check of the native code ended the program",
    wordings=(
        Wording(
            "Non-OK-status:",
            r"(?P<file>[\w/.-]{1,80}\.(?:cc|h|cu)):(?P<line>\d{1,6})\] Non-OK-status: (?P<condition>.{1,160}?)(?: Aborted| Fatal|$)",
        ),
        Wording(
            "Check failed:",
            r"(?P<file>[\w/.-]{1,80}\.(?:cc|h|cu)):(?P<line>\d{1,6})\] Check failed: (?P<condition>.{1,160}?)(?: Aborted| Fatal|$)",
        ),
    ),
    explain=_explain,
    ways=(ways.CHECK, ways.CARD),
    sources=(
        "https://github.com/torrvision/siamfc-tf/issues/21",
        "https://github.com/tensorflow/tensorflow/issues/67527",
        "https://github.com/google-research/tensorflow-coder/issues/8",
    ),
    rank=-2,
)
