"""The file is no ONNX model, or is not there."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    file = f"“{read.get('file')}”" if "file" in read else "The file"
    if read.says("NO_SUCHFILE", "File doesn't exist"):
        return Cause(
            f"{file} is not there. Paths count from the folder in which the program was started.",
            Certainty.CERTAIN,
            (
                Step(
                    "See where it is looked for.",
                    "import pathlib\nprint(pathlib.Path.cwd(), pathlib.Path('model.onnx').exists())",
                ),
            ),
        )
    if read.says("External data path does not exist"):
        return Cause(
            f"The weights lie in a file of their own beside the model ({file}), and it is not there: it was not copied along, or was renamed.",
            Certainty.CERTAIN,
            (Step("Copy both files into one folder, under their names."),),
        )
    return Cause(
        f"{file} does not hold an ONNX model: a web page or a Git LFS pointer in its place, an interrupted copy, or another format under this name.",
        Certainty.LIKELY,
        (
            Step(
                "See how it begins.",
                "print(open('model.onnx', 'rb').read(60))   # b'version https://git-lfs' is a pointer",
            ),
            Step("Fetch it again.", "git lfs pull"),
        ),
    )


MESSAGE = Message(
    id="onnx-file",
    title="The file is no ONNX model, or is not there",
    wordings=(
        Wording("Protobuf parsing failed", r"Load model from (?P<file>.{1,200}?) failed: ?Protobuf parsing failed"),
        Wording("NO_SUCHFILE", r"Load model from (?P<file>.{1,200}?) failed"),
        Wording("ModelProto does not have a graph"),
        Wording("External data path does not exist", r"External data path does not exist:? ?(?P<file>\S{0,200})"),
        Wording("google.protobuf.message.DecodeError", beside="onnx"),
        Wording("Wrong wire type in tag"),
    ),
    explain=_explain,
    ways=(ways.DESCRIBE,),
    sources=("https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/graph/model.cc",),
)
