"""The card's matrix library did not start."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    memory = read.says("failed to create cublas handle", "may be due to OOM")
    return Cause(
        "cuBLAS did not start on the card. "
        + (
            "Lines above speak of it: the card's memory was taken when it started."
            if memory
            else "Most often the card's memory is taken by another process, or by TensorFlow itself, when cuBLAS asks for some; else CUDA and TensorFlow do not fit together (a build for another CUDA, conda on Windows)."
        ),
        Certainty.LIKELY if memory else Certainty.POSSIBLE,
        (
            Step("See who holds the card.", "nvidia-smi"),
            Step(
                "Take memory as it is needed, in the first lines.",
                "for gpu in tf.config.list_physical_devices('GPU'):\n    tf.config.experimental.set_memory_growth(gpu, True)",
            ),
            Step("See which CUDA TensorFlow was built for.", "print(tf.sysconfig.get_build_info())"),
        ),
    )


MESSAGE = Message(
    id="blas-not-started",
    title="The card's matrix library did not start",
    wordings=(
        Wording("Attempting to perform BLAS operation using StreamExecutor without BLAS support"),
        Wording("attempting to perform BLAS operation using StreamExecutor without BLAS support"),
        Wording("failed to create cublas handle: the library was not initialized"),
    ),
    explain=_explain,
    ways=(ways.CARD,),
    sources=("https://github.com/rstudio/tensorflow/issues/512", "https://github.com/mikelkou/fava/issues/23"),
)
