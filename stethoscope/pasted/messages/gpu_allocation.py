"""The card's memory is taken."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    size = f" {read.get('size')}" if "size" in read else " memory"
    if read.says(
        "Blas GEMM launch failed", "Blas xGEMM launch failed", "failed to create cublas handle"
    ) and not read.says("CUDA_ERROR_OUT_OF_MEMORY"):
        return Cause(
            "The matrix library of the card did not start. Most often another process (a second notebook) holds the card's memory; else CUDA and the card do not fit.",
            Certainty.POSSIBLE,
            (
                Step("See who holds it, and end what is not needed.", "nvidia-smi"),
                Step(
                    "Take memory as it is needed.",
                    "tf.config.experimental.set_memory_growth(tf.config.list_physical_devices('GPU')[0], True)",
                ),
            ),
        )
    return Cause(
        f"The driver did not give{size}: the card is full. TensorFlow takes nearly all of it when it starts, so a second process, an old notebook or a program that hangs is enough.",
        Certainty.LIKELY,
        (
            Step("See who holds it, and end what is not needed.", "nvidia-smi"),
            Step(
                "Take memory as it is needed, or a share of it, in the first lines of the program.",
                "gpu = tf.config.list_physical_devices('GPU')[0]\ntf.config.experimental.set_memory_growth(gpu, True)\n# or: tf.config.set_logical_device_configuration(gpu, [tf.config.LogicalDeviceConfiguration(memory_limit=4096)])",
            ),
            Step("Then smaller batches.", "model.fit(x, y, batch_size=8)"),
        ),
    )


MESSAGE = Message(
    id="gpu-allocation",
    title="The card's memory is taken",
    wordings=(
        Wording(
            "CUDA_ERROR_OUT_OF_MEMORY",
            r"failed to (?:allocate|alloc) (?P<size>[\d.]{1,12} ?[KMGTi]{0,2}B?)(?: \((?P<bytes>\d{1,15}) bytes\))?.{0,60}?CUDA_ERROR_OUT_OF_MEMORY",
        ),
        Wording("CUDA_ERROR_OUT_OF_MEMORY"),
        Wording("CUBLAS_STATUS_ALLOC_FAILED"),
        Wording("CUDA out of memory", unless="torch"),
        Wording("failed to create cublas handle: CUBLAS_STATUS_NOT_INITIALIZED"),
        Wording("Blas GEMM launch failed"),
        Wording("Blas xGEMM launch failed"),
        Wording("failed to create cublas handle"),
        Wording("Dst tensor is not initialized"),
        Wording("Failed copying input tensor from", beside="GPU:"),
    ),
    explain=_explain,
    ways=(ways.CARD, ways.SWEEP),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/12237",
        "https://github.com/tensorflow/tensorflow/issues/30912",
        "https://github.com/tensorflow/tensorflow/issues/14231",
    ),
)
