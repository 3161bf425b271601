"""tf2onnx has no ONNX operator for a part of the model."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    operator = read.get("operator", "An operation")
    node = f" (node “{read.get('node')}”)" if "node" in read else ""
    return Cause(
        f"tf2onnx knows no ONNX operator for {operator}{node}: texts, look-up tables, linear algebra and control flow are the usual ones. The file it writes does not run.",
        Certainty.CERTAIN,
        (
            Step("A higher opset may have it.", "python -m tf2onnx.convert --opset 18 …"),
            Step("Take this part out of the model (texts and look-ups before it), or write it by other operations."),
            Step(
                "Or by the extensions of ONNX Runtime.", "python -m tf2onnx.convert --extra_opset ai.onnx.contrib:1 …"
            ),
        ),
    )


MESSAGE = Message(
    id="tf2onnx-operator",
    title="tf2onnx has no ONNX operator for a part of the model",
    wordings=(
        Wording(
            "is not supported", r"Tensorflow op \[(?P<node>[^\]:]{1,160}): (?P<operator>\w{1,60})\] is not supported"
        ),
        Wording("Unsupported ops: Counter", r"Unsupported ops: Counter\(\{(?P<operator>[^}]{1,160})\}\)"),
        Wording("skip conversion", r"tensorflow op (?P<operator>\w{1,60}) is not supported"),
    ),
    explain=_explain,
    ways=(ways.CONVERT_ONNX,),
    sources=(
        "https://github.com/onnx/tensorflow-onnx/issues/1926",
        "https://github.com/onnx/tensorflow-onnx/issues/1091",
    ),
)
