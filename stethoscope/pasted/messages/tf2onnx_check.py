"""tf2onnx cannot write this operator so."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    reason = read.get("reason")
    return Cause(
        f"A condition that tf2onnx has on an operator does not hold{f': “{reason}”' if reason else ''}. Usual are an opset that is too low for the operator, sizes that are open where they have to be known, and attributes that ONNX does not have.",
        Certainty.LIKELY,
        (
            Step(
                "A higher opset, which most runtimes of today take.",
                "python -m tf2onnx.convert --saved-model folder --opset 18 --output model.onnx",
            ),
            Step(
                "Fixed sizes of the inputs.",
                "signature = [tf.TensorSpec((1, 224, 224, 3), tf.float32, name='input')]\ntf2onnx.convert.from_keras(model, input_signature=signature, opset=18)",
            ),
            Step("The newest version.", "python -m pip install -U tf2onnx onnx"),
        ),
    )


MESSAGE = Message(
    id="tf2onnx-check",
    title="tf2onnx cannot write this operator so",
    wordings=(
        Wording("make_sure failure:", r"make_sure failure: (?P<reason>[^\n]{1,220}?)(?:$| Traceback)"),
        Wording(
            "tf2onnx",
            r"(?P<reason>(?:Opset|opset) (?:\d{1,2}|version) [^\n]{1,160}?(?:supported|required|needed)[^\n]{0,60}?)(?:$| Traceback)",
        ),
    ),
    explain=_explain,
    ways=(ways.CONVERT_ONNX,),
    sources=("https://github.com/onnx/tensorflow-onnx/blob/main/tf2onnx/utils.py",),
    rank=-1,
)
