"""The card or its driver failed while it worked."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    code = read.get("code", "a failure")
    if "ILLEGAL_ADDRESS" in code or read.says("illegal memory access"):
        return Cause(
            "A kernel read memory of the card that is not its own: an operator of one's own, an index beyond a table (the card does not check), or a fault of CUDA or cuDNN in this version.",
            Certainty.POSSIBLE,
            (
                Step(
                    "Run the same on the processor: there an index is checked and named.",
                    "CUDA_VISIBLE_DEVICES=-1 python train.py",
                ),
                Step("Make the place exact.", "CUDA_LAUNCH_BLOCKING=1 python train.py"),
            ),
        )
    return Cause(
        f"The card reported {code} in the middle of the work: heat or power, a driver that was reset (on Windows after 2 seconds by its watchdog), a driver that does not fit this CUDA, or a card that is also full.",
        Certainty.POSSIBLE,
        (
            Step(
                "Ask the driver, and the kernel's log.", "nvidia-smi -q -d TEMPERATURE,POWER,ECC\ndmesg | grep -i xid"
            ),
            Step(
                "Take memory as it is needed, and smaller batches.",
                "tf.config.experimental.set_memory_growth(tf.config.list_physical_devices('GPU')[0], True)",
            ),
            Step("Install the driver that this CUDA wants, and restart."),
        ),
    )


MESSAGE = Message(
    id="gpu-failed",
    title="The card or its driver failed while it worked",
    wordings=(
        Wording("CUDA_ERROR_UNKNOWN", r"(?P<code>CUDA_ERROR_UNKNOWN)", unless="failed call to cuInit"),
        Wording("CUDA_ERROR_LAUNCH_FAILED", r"(?P<code>CUDA_ERROR_LAUNCH_FAILED)"),
        Wording("CUDA_ERROR_LAUNCH_TIMEOUT", r"(?P<code>CUDA_ERROR_LAUNCH_TIMEOUT)"),
        Wording("CUDA_ERROR_ILLEGAL_ADDRESS", r"(?P<code>CUDA_ERROR_ILLEGAL_ADDRESS)"),
        Wording("CUDA_ERROR_ILLEGAL_INSTRUCTION", r"(?P<code>CUDA_ERROR_ILLEGAL_INSTRUCTION)"),
        Wording("an illegal memory access was encountered", unless="torch"),
        Wording("CUDNN_STATUS_EXECUTION_FAILED", r"(?P<code>CUDNN_STATUS_EXECUTION_FAILED)", unless="torch"),
        Wording("failed to query event"),
        Wording("Unexpected Event status"),
        Wording("GPU sync failed", r"(?P<code>GPU sync failed)"),
        Wording("H2D_stream_->ok()", r"(?P<code>H2D_stream_->ok\(\))"),
        Wording("D2H_stream_->ok()", r"(?P<code>D2H_stream_->ok\(\))"),
    ),
    explain=_explain,
    ways=(ways.CARD, ways.DOCTOR),
    sources=("https://github.com/tensorflow/tensorflow/issues/27281",),
    rank=-1,
)
