"""Native code crashed."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    if read.says("0xC0000409", "-1073740791"):
        return Cause(
            "Native code ended the process itself on Windows (a failed check, often of CUDA or cuDNN, or memory that was not given); it leaves no message of Python.",
            Certainty.POSSIBLE,
            (
                Step(
                    "Run it in a terminal: the last lines before the end are not shown by every editor.",
                    "python -X faulthandler train.py",
                ),
                Step("Try without the card.", "set CUDA_VISIBLE_DEVICES=-1"),
                Step("zlibwapi.dll is needed by some versions of cuDNN and is a download of its own."),
            ),
        )
    return Cause(
        "The process read memory that is not its own: a fault in native code, not in Python. Usual are libraries that do not fit together (CUDA, cuDNN, protobuf, a second OpenMP), a stack that is too small, or a fault of an operator.",
        Certainty.POSSIBLE,
        (
            Step("Say where it was.", "python -X faulthandler train.py"),
            Step(
                "Try without the card, and in a fresh environment.",
                "CUDA_VISIBLE_DEVICES=-1 python train.py\npython -m venv fresh && fresh/bin/pip install tensorflow",
            ),
            Step("Import order decides which libraries are loaded: TensorFlow first, then the others."),
        ),
    )


MESSAGE = Message(
    id="segmentation-fault",
    title="Native code crashed",
    wordings=(
        Wording("Segmentation fault"),
        Wording("segmentation fault"),
        Wording("signal 11: SIGSEGV"),
        Wording("exit code 139"),
        Wording("Fatal Python error: Segmentation fault"),
        Wording("-1073741819 (0xC0000005)"),
        Wording("code=dumped, status=11/SEGV"),
        Wording("free(): invalid pointer"),
        Wording("double free or corruption"),
        Wording("munmap_chunk(): invalid pointer"),
        Wording("corrupted size vs. prev_size"),
        Wording("0xC0000005"),
        Wording("3221225477"),
        Wording("0xC0000409"),
        Wording("-1073740791"),
        Wording("Windows fatal exception: access violation"),
    ),
    explain=_explain,
    ways=(ways.DOCTOR, ways.PREDICT),
    sources=("https://docs.python.org/3/library/faulthandler.html",),
)
