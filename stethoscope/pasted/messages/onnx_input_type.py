"""The ONNX model takes another type of numbers."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    short = {
        "IdEE": "double",
        "IfEE": "float",
        "IlEE": "int64",
        "IiEE": "int32",
        "IxEE": "int64",
        "NonOnnxTypeIiEE": "int32",
    }

    def plain(text: str) -> str:
        return next(
            (name for mark, name in short.items() if mark in text),
            text.replace("tensor(", "").strip("() ").replace("class onnxruntime::PrimitiveDataType", "").strip("<>"),
        )

    found, wanted = plain(read.get("found", "one type")), plain(read.get("wanted", "another"))
    if "node" in read:
        return Cause(
            f"Inside of the model, at “{read.get('node')}”, {found} meets {wanted}: the export or a change of types (float16, float64) left one of them as it was.",
            Certainty.LIKELY,
            (Step("Export again in float32; convert to float16 with a tool that adds the casts."),),
        )
    numpy = {
        "float": "float32",
        "double": "float64",
        "int64": "int64",
        "int32": "int32",
        "float16": "float16",
        "uint8": "uint8",
    }.get(wanted, "float32")
    return Cause(
        f"The input is {found} and the model takes {wanted}; ONNX Runtime does not convert. NumPy makes float64 (double) by itself.",
        Certainty.CERTAIN,
        (
            Step("Convert it.", f"x = x.astype(np.{numpy})"),
            Step("See what each input takes.", "print([(i.name, i.type) for i in session.get_inputs()])"),
        ),
    )


MESSAGE = Message(
    id="onnx-input-type",
    title="The ONNX model takes another type of numbers",
    wordings=(
        Wording(
            "Unexpected input data type",
            r"Actual: ?\((?P<found>.{1,80}?)\) ?, expected: ?\((?P<wanted>.{1,80}?)\)(?:\s|$|\))",
        ),
        Wording(
            "bound to different types",
            r"bound to different types \((?P<wanted>tensor\(\w{1,20}\)) and (?P<found>tensor\(\w{1,20}\)) in node \((?P<node>[^)]{1,120})\)",
        ),
        Wording("Unexpected input data type"),
    ),
    explain=_explain,
    ways=(ways.DESCRIBE, ways.DATA),
    sources=(
        "https://github.com/onnx/keras-onnx/issues/323",
        "https://github.com/microsoft/onnxruntime/issues/4787",
        "https://github.com/microsoft/onnxruntime/issues/7340",
    ),
)
