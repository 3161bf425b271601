"""ONNX Runtime does not have the provider that was asked for."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Role, Step, Wording


def _explain(read: Read) -> Cause:
    wanted = read.get("wanted", "CUDAExecutionProvider")
    if read.says("you are required to explicitly set the providers parameter"):
        return Cause(
            "This build of ONNX Runtime has several providers, and since version 1.9 the session has to be told which to take.",
            Certainty.CERTAIN,
            (
                Step(
                    "Name them, the first that works is taken.",
                    "onnxruntime.InferenceSession('model.onnx', providers=['CUDAExecutionProvider', 'CPUExecutionProvider'])",
                ),
            ),
        )
    available = f" There are: {read.get('available')}." if "available" in read else ""
    if read.says("Failed to create CUDAExecutionProvider", "libonnxruntime_providers_cuda.so"):
        return Cause(
            "The provider for CUDA is installed and does not start: CUDA or cuDNN are missing or of another version than this ONNX Runtime was built for. It goes on with the CPU.",
            Certainty.LIKELY,
            (Step("Let pip bring the fitting ones along.", "pip install 'onnxruntime-gpu[cuda,cudnn]'"),),
        )
    return Cause(
        f"{wanted} is not in this installation, so it runs on what there is.{available} The package onnxruntime is for the CPU; with both packages installed one hides the other.",
        Certainty.CERTAIN,
        (
            Step(
                "Only the package for the card.",
                "pip uninstall -y onnxruntime onnxruntime-gpu && pip install onnxruntime-gpu",
            ),
            Step("See what there is.", "print(onnxruntime.get_available_providers())"),
        ),
    )


MESSAGE = Message(
    id="onnx-provider",
    title="ONNX Runtime does not have the provider that was asked for",
    wordings=(
        Wording(
            "is not in available provider names",
            r"Specified provider '(?P<wanted>\w{1,60})' is not in available provider names\. ?Available providers: '(?P<available>[^']{1,200})'",
        ),
        Wording("Failed to create CUDAExecutionProvider"),
        Wording("you are required to explicitly set the providers parameter"),
        Wording("ORT has not been built with", r"you are required to explicitly set the providers"),
        Wording("libonnxruntime_providers_cuda.so with error", r"with error: (?P<reason>.{1,160}?)(?: |$)"),
    ),
    explain=_explain,
    ways=(ways.CARD,),
    sources=(
        "https://github.com/microsoft/onnxruntime/issues/23736",
        "https://github.com/microsoft/onnxruntime/issues/4809",
    ),
    role=Role.WARNING,
)
