"""An operation has no kernel on this device or in this build."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    operator = f"“{read.get('operator')}”" if "operator" in read else "An operation"
    cudnn = read.says("CudnnRNN", "CuDNNLSTM", "CuDNNGRU")
    return Cause(
        f"{operator} has no implementation for the device or type of numbers at hand: it is for a GPU only and TensorFlow sees none, for another dtype, of an own library that was built without it, or was left out of a small build (Android, iOS, lite).",
        Certainty.LIKELY,
        (
            Step("See whether there is a card.", "print(tf.config.list_physical_devices('GPU'))"),
            Step(
                "CuDNNLSTM and CuDNNGRU are for cards only.",
                "keras.layers.LSTM(64)   # takes cuDNN by itself where there is a card",
            )
            if cudnn
            else Step("The end of the message lists the kernels there are: their device and their types."),
        ),
    )


MESSAGE = Message(
    id="no-kernel",
    title="An operation has no kernel on this device or in this build",
    wordings=(
        Wording("No OpKernel was registered to support Op", r"support Op '(?P<operator>\w{1,60})'"),
        Wording("Could not find device for node: ", r"(?:node|for node): \{\{node (?P<operator>\w{1,60})"),
        Wording("Could not find compiled kernel", r"kernel for op (?P<operator>\w{1,60})"),
    ),
    explain=_explain,
    ways=(ways.CARD, ways.LAYERS),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/13888",
        "https://github.com/ayanc/fdscs/issues/9",
        "https://github.com/tensorflow/tensorflow/issues/18772",
    ),
)
