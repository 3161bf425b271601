"""The ONNX file breaks the rules of an operator."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    operator = read.get("operator", "an operator")
    said = f": {read.get('said').strip()}" if "said" in read else ""
    return Cause(
        f"The model does not load, as shapes or types do not go together at {operator}{said}. The file was written so: by an export with a wrong axis, dtype or opset, or by an edit.",
        Certainty.LIKELY,
        (
            Step("See where it breaks.", "onnx.checker.check_model(onnx.load('model.onnx'), full_check=True)"),
            Step("Export anew, with a newer converter and another opset."),
        ),
    )


MESSAGE = Message(
    id="onnx-graph-invalid",
    title="The ONNX file breaks the rules of an operator",
    wordings=(
        Wording(
            "[ShapeInferenceError]",
            r"(?:Op \((?P<operator>\w{1,60})\) )?\[ShapeInferenceError\] (?P<said>.{1,200}?)(?:$| \[)",
        ),
        Wording(
            "[TypeInferenceError]",
            r"(?:Op \((?P<operator>\w{1,60})\) )?\[TypeInferenceError\] (?P<said>.{1,200}?)(?:$| \[)",
        ),
    ),
    explain=_explain,
    ways=(ways.DESCRIBE, ways.CONVERT_ONNX),
    sources=("https://github.com/microsoft/onnxruntime/issues/8505",),
)
