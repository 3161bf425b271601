"""ONNX Runtime has no kernel for an operator in this type or on this device."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    operator, version = read.get("operator", "An operator"), read.number("version")
    node = f" (node “{read.get('node').strip()}”)" if read.get("node").strip() else ""
    if version is not None and version < 7:
        return Cause(
            f"ONNX Runtime has no kernel for {operator} as opset {version} has it{node}: the file is of an opset below 7, or (where the operator has not changed since) the type of its input is not covered, often float16 or float64.",
            Certainty.LIKELY,
            (
                Step("Export again with a newer opset.", "python -m tf2onnx.convert --opset 17 …"),
                Step("Or raise it.", "onnx.version_converter.convert_version(onnx.load('model.onnx'), 13)"),
            ),
        )
    return Cause(
        f"ONNX Runtime knows {operator}{f' (opset {version})' if version else ''}, but not for the type of its input (often float16, float64, int32 or bool) or on this provider{node}.",
        Certainty.LIKELY,
        (
            Step("See the types at that node (Architecture page), and cast before it or export in float32."),
            Step(
                "A newer ONNX Runtime may have it, a lower opset may avoid it.",
                "pip install -U onnxruntime\npython -m tf2onnx.convert --opset 13 …",
            ),
            Step(
                "float16 on the CPU: keep these operators in float32.",
                "float16.convert_float_to_float16(model, op_block_list=['Elu'])",
            ),
        ),
    )


MESSAGE = Message(
    id="onnx-not-implemented",
    title="ONNX Runtime has no kernel for an operator in this type or on this device",
    wordings=(
        Wording(
            "Could not find an implementation for",
            r"implementation for (?:the node )?(?P<operator>\w{1,60})\((?P<version>\d{1,3})\)(?: node with name '(?P<node>[^']{0,160})')?",
        ),
        Wording(
            "Failed to find kernel for",
            r"Failed to find kernel for (?P<operator>\w{1,60})\((?P<version>\d{1,3})\)(?: \(node ?(?P<node>[^)]{1,120})\))?",
        ),
        Wording("NOT_IMPLEMENTED : ", r"NOT_IMPLEMENTED : (?P<reason>.{1,120})"),
    ),
    explain=_explain,
    ways=(ways.CONVERT_ONNX,),
    sources=(
        "https://github.com/microsoft/onnxruntime/issues/6116",
        "https://github.com/microsoft/onnxruntime/issues/967",
        "https://github.com/microsoft/onnxruntime/issues/17299",
    ),
)
