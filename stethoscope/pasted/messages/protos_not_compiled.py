"""The object detection API is not set up."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        "The object detection API needs its .proto files compiled to Python, and its folders (research and research/slim) on the path; one of both was not done, or another copy of it is imported.",
        Certainty.LIKELY,
        (
            Step(
                "In models/research.",
                "protoc object_detection/protos/*.proto --python_out=.\ncp object_detection/packages/tf2/setup.py . && python -m pip install .",
            ),
            Step(
                "Windows: protoc takes no *; name the files one by one or use a loop.",
                "for %f in (object_detection\\protos\\*.proto) do protoc %f --python_out=.",
            ),
            Step("Or the path alone.", "export PYTHONPATH=$PYTHONPATH:$(pwd):$(pwd)/slim"),
        ),
    )


MESSAGE = Message(
    id="protos-not-compiled",
    title="The object detection API is not set up",
    wordings=(
        Wording("cannot import name 'string_int_label_map_pb2'"),
        Wording("cannot import name string_int_label_map_pb2"),
        Wording("_pb2' from 'object_detection.protos'"),
        Wording("cannot import name 'preprocessor_pb2'"),
        Wording("cannot import name 'input_reader_pb2'"),
        Wording("cannot import name 'anchor_generator_pb2'"),
        Wording("No module named 'object_detection'"),
        Wording("No module named 'nets'"),
    ),
    explain=_explain,
    ways=(ways.DOCTOR,),
    sources=(
        "https://github.com/tensorflow/models/issues/1562",
        "https://github.com/tensorflow/models/issues/7811",
        "https://github.com/nicknochnack/TFODCourse/issues/38",
    ),
)
