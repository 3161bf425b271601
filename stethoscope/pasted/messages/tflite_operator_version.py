"""The TFLite model is newer than the runtime."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    operator = read.get("operator", "An operator")
    version = f" in version {read.get('version')}" if "version" in read else ""
    micro = (
        " On a microcontroller it was not added to the resolver (or the resolver has too few places)."
        if read.says("icro", "Failed to get registration")
        else ""
    )
    return Cause(
        f"{operator}{version} is not in this runtime: the model was converted by a newer TensorFlow than the runtime that is to run it.{micro}",
        Certainty.LIKELY,
        (
            Step("A newer runtime.", "pip install -U ai-edge-litert"),
            Step(
                "Or convert with the TensorFlow of the runtime's time.",
                "pip install 'tensorflow==2.x'   # as old as the runtime",
            ),
            Step(
                "Microcontroller: add the operator.",
                "static tflite::MicroMutableOpResolver<10> resolver;\nresolver.AddAveragePool2D();",
            ),
        ),
    )


MESSAGE = Message(
    id="tflite-operator-version",
    title="The TFLite model is newer than the runtime",
    wordings=(
        Wording(
            "Didn't find op for builtin opcode",
            r"builtin opcode '(?P<operator>\w{1,60})' version '(?P<version>\d{1,3})'",
        ),
        Wording("Op builtin_code out of range", r"out of range: (?P<code>\d{1,5})"),
        Wording("Failed to get registration from op code", r"op code {1,3}(?P<operator>\w{1,60})"),
    ),
    explain=_explain,
    ways=(ways.CONVERT_TFLITE, ways.DESCRIBE),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/40704",
        "https://github.com/tensorflow/tflite-micro/issues/302",
        "https://github.com/tensorflow/tensorflow/issues/47857",
    ),
)
