"""TensorFlow's native library does not load."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        "TensorFlow's native library, or one that it needs, could not be loaded. On Windows: the Visual C++ runtime is missing or old, Python is not 64-bit or not a supported version, or the processor has no AVX.",
        Certainty.LIKELY,
        (
            Step(
                "Install the newest Visual C++ runtime (x64), then a fresh environment.",
                "python -m venv fresh\nfresh\\Scripts\\pip install tensorflow",
            ),
            Step(
                "See version and width of Python.",
                "python -c \"import sys, struct; print(sys.version, struct.calcsize('P') * 8)\"",
            ),
            Step("GPUs on Windows: only up to 2.10; later in WSL 2."),
        ),
    )


MESSAGE = Message(
    id="dll-load",
    title="TensorFlow's native library does not load",
    wordings=(
        Wording("0xC0000135"),
        Wording(
            "DLL load failed",
            r"DLL load failed(?: while importing (?P<module>[\w.]{1,60}))?:? ?(?P<reason>[^.\n]{0,100})",
        ),
        Wording("Failed to load the native TensorFlow runtime"),
        Wording("No module named '_pywrap_tensorflow_internal'"),
    ),
    explain=_explain,
    ways=(ways.DOCTOR,),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/83632",
        "https://github.com/tensorflow/tensorflow/issues/38925",
        "https://github.com/tensorflow/tensorflow/issues/42159",
        "https://www.tensorflow.org/install/errors",
    ),
)
