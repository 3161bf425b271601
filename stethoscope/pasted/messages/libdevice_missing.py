"""XLA does not find libdevice of CUDA."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        "XLA needs libdevice.10.bc of the CUDA toolkit and looks for it in ./cuda_sdk_lib, /usr/local/cuda and the working folder. With CUDA from pip or conda it lies elsewhere.",
        Certainty.CERTAIN,
        (
            Step(
                "Say where it is (the folder that has nvvm/libdevice in it).",
                "export XLA_FLAGS=--xla_gpu_cuda_data_dir=$(python -c 'import nvidia.cuda_nvcc, os; print(list(nvidia.cuda_nvcc.__path__)[0])')",
            ),
            Step("Is it there at all?", "find / -name 'libdevice*.bc' 2>/dev/null\npip install nvidia-cuda-nvcc-cu12"),
            Step("Or do without XLA.", "model.compile(optimizer, loss, jit_compile=False)"),
        ),
    )


MESSAGE = Message(
    id="libdevice-missing",
    title="XLA does not find libdevice of CUDA",
    wordings=(
        Wording("libdevice not found at", r"libdevice not found at (?P<file>\S{1,120})"),
        Wording("Can't find libdevice directory", r"Can't find libdevice directory (?P<file>\S{1,120})"),
        Wording("libdevice is required by this HLO module but was not found"),
    ),
    explain=_explain,
    ways=(ways.CARD, ways.DEVICES),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/58681",
        "https://github.com/tensorflow/tensorflow/issues/56927",
        "https://github.com/tensorflow/tensorflow/issues/60790",
    ),
)
