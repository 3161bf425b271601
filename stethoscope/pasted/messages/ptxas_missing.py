"""The assembler of CUDA (ptxas) is missing or does not fit."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    reason = f" It says: {read.get('reason')}." if "reason" in read else ""
    return Cause(
        f"XLA compiles for the card with ptxas of the CUDA toolkit, and it is missing, too old for the card, or has a fault of its own.{reason}",
        Certainty.LIKELY,
        (
            Step("See whether there is one, and which.", "which ptxas && ptxas --version"),
            Step("Install the one for this CUDA, and put it on the path.", "pip install -U nvidia-cuda-nvcc-cu12"),
            Step("Or do without XLA.", "model.compile(optimizer, loss, jit_compile=False)"),
        ),
    )


MESSAGE = Message(
    id="ptxas-missing",
    title="The assembler of CUDA (ptxas) is missing or does not fit",
    wordings=(
        Wording("Couldn't get ptxas version"),
        Wording("Couldn't invoke ptxas"),
        Wording("bin/ptxas not found"),
        Wording("No PTX compilation provider is available"),
        Wording("ptxas returned an error", r"'INTERNAL: (?P<reason>[^']{1,160})'"),
        Wording("ptxas returned an error"),
        Wording("ptxas exited with non-zero error code", r"error code (?P<code>-?\d{1,6})"),
        Wording("ptxas fatal", r"ptxas fatal {1,3}: (?P<reason>.{1,160})"),
    ),
    explain=_explain,
    ways=(ways.CARD, ways.DEVICES),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/35423",
        "https://github.com/tensorflow/tensorflow/issues/50110",
        "https://github.com/tensorflow/tensorflow/issues/68966",
    ),
)
