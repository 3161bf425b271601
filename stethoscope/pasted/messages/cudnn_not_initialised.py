"""cuDNN did not start on the card."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    status = f" ({read.get('status')})" if "status" in read else ""
    if read.says("but source was compiled with"):
        return Cause(
            f"cuDNN did not start{status}: a line above says that its version is not the one TensorFlow was built for.",
            Certainty.CERTAIN,
            (Step("Bring cuDNN to that version.", "pip install 'tensorflow[and-cuda]'"),),
        )
    return Cause(
        f"cuDNN did not start{status}. Most often the card's memory is taken (by TensorFlow itself or by another process), so that there is none left for cuDNN; else its version does not fit.",
        Certainty.LIKELY,
        (
            Step(
                "Take memory as it is needed, in the first lines of the program.",
                "for gpu in tf.config.list_physical_devices('GPU'):\n    tf.config.experimental.set_memory_growth(gpu, True)",
            ),
            Step("See who holds the card.", "nvidia-smi"),
            Step(
                "Look for a line above it that names versions; it says which one fits.",
                'python -c "import tensorflow as tf; print(tf.sysconfig.get_build_info())"',
            ),
        ),
    )


MESSAGE = Message(
    id="cudnn-not-initialised",
    title="cuDNN did not start on the card",
    wordings=(
        Wording("Failed to get convolution algorithm. This is probably because cuDNN failed to initialize"),
        Wording("Could not create cudnn handle", r"Could not create cudnn handle: (?P<status>\w{1,60})"),
        Wording("DNN library is not found"),
        Wording("DNN library initialization failed"),
        Wording("CUDNN_STATUS_NOT_INITIALIZED"),
        Wording("CUDNN_STATUS_INTERNAL_ERROR"),
        Wording("CUDNN_STATUS_ALLOC_FAILED"),
        Wording("Dnn is not supported"),
        Wording("Failed to call ThenRnnForward"),
        Wording("cudnnCreate failed"),
    ),
    explain=_explain,
    ways=(ways.CARD, ways.SWEEP),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/24828",
        "https://github.com/tensorflow/tensorflow/issues/38929",
        "https://github.com/tensorflow/tensorflow/issues/25160",
    ),
)
