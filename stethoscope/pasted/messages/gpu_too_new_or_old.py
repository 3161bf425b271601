"""This build holds no code for the card."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    capability = f" (compute capability {read.get('capability').rstrip('.')})" if "capability" in read else ""
    return Cause(
        f"TensorFlow's build has no compiled code for this card{capability}: the card is newer than the build, or too old for it.",
        Certainty.LIKELY,
        (
            Step("A newer card: a newer TensorFlow.", "pip install -U 'tensorflow[and-cuda]'"),
            Step(
                "See what the build has.",
                "python -c \"import tensorflow as tf; print(tf.sysconfig.get_build_info()['cuda_compute_capabilities'])\"",
            ),
            Step("An old card: an older TensorFlow, or the CPU.", "CUDA_VISIBLE_DEVICES=-1 python train.py"),
        ),
    )


MESSAGE = Message(
    id="gpu-too-new-or-old",
    title="This build holds no code for the card",
    wordings=(
        Wording("device kernel image is invalid"),
        Wording("no kernel image is available for execution on the device"),
        Wording("CUDA_ERROR_NO_BINARY_FOR_GPU"),
        Wording("CUDA_ERROR_INVALID_PTX"),
        Wording("CUDA_ERROR_INVALID_HANDLE"),
        Wording(
            "TensorFlow was not built with CUDA kernel binaries compatible with compute capability",
            r"compute capability (?P<capability>[\d.a]{1,6})",
        ),
        Wording("Ignoring visible gpu device", r"with compute capability (?P<capability>[\d.]{1,5})"),
    ),
    explain=_explain,
    ways=(ways.CARD, ways.DOCTOR),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/97387",
        "https://github.com/tensorflow/tensorflow/issues/42467",
        "https://github.com/tensorflow/tensorflow/issues/99592",
    ),
)
