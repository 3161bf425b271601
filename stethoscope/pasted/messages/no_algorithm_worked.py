"""No algorithm of cuDNN could run a convolution."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        "cuDNN tried its algorithms for a convolution and each failed. Most often there is no memory left on the card for their workspace; else cuDNN and the card do not fit.",
        Certainty.LIKELY,
        (
            Step(
                "Take memory as it is needed, and smaller batches.",
                "for gpu in tf.config.list_physical_devices('GPU'):\n    tf.config.experimental.set_memory_growth(gpu, True)\nmodel.fit(x, y, batch_size=8)",
            ),
            Step("See who holds the card.", "nvidia-smi"),
            Step(
                "A small convolution alone shows whether it is the set-up.",
                "tf.nn.conv2d(tf.ones((1, 8, 8, 3)), tf.ones((3, 3, 3, 4)), 1, 'SAME')",
            ),
        ),
    )


MESSAGE = Message(
    id="no-algorithm-worked",
    title="No algorithm of cuDNN could run a convolution",
    wordings=(
        Wording("No algorithm worked!"),
        Wording("autotuning failed", r"All algorithms tried for .{1,300}? failed|Autotuning failed"),
    ),
    explain=_explain,
    ways=(ways.CARD, ways.SWEEP),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/43174",
        "https://github.com/tensorflow/tensorflow/issues/45926",
        "https://github.com/tensorflow/tensorflow/issues/49220",
    ),
)
