"""protobuf is newer than the generated code."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        "protobuf and the code that was generated for it (TensorFlow, TensorBoard, a library on top) are of different generations: protobuf 4 does not take code made before 3.19, and code made by a newer one needs a newer protobuf.",
        Certainty.CERTAIN,
        (
            Step("An older TensorFlow: protobuf of its time.", "pip install 'protobuf<=3.20.3'"),
            Step("Or all of it newer.", "pip install -U tensorflow tensorboard protobuf"),
            Step("For the moment, slow.", "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION=python python train.py"),
        ),
    )


MESSAGE = Message(
    id="protobuf-descriptors",
    title="protobuf is newer than the generated code",
    wordings=(
        Wording("Descriptors cannot not be created directly"),
        Wording("Descriptors cannot be created directly"),
        Wording("cannot import name 'builder' from 'google.protobuf.internal'"),
        Wording("'MessageFactory' object has no attribute 'GetPrototype'"),
        Wording(
            "Detected incompatible Protobuf Gencode/Runtime versions",
            r"gencode (?P<wanted>[\d.]{1,12}) runtime (?P<loaded>[\d.]{1,12})",
        ),
    ),
    explain=_explain,
    ways=(ways.DOCTOR,),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/56266",
        "https://github.com/tensorflow/tensorflow/issues/59665",
        "https://developers.google.com/protocol-buffers/docs/news/2022-05-06#python-updates",
    ),
)
