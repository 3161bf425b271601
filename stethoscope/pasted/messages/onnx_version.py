"""The ONNX file is newer than the runtime."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    if "version" in read:
        return Cause(
            f"The file is of IR version {read.get('version')} and this ONNX Runtime takes up to {read.get('supported')}: the onnx package that wrote it is newer.",
            Certainty.CERTAIN,
            (
                Step("A newer runtime.", "pip install -U onnxruntime"),
                Step(
                    "Or write the older version, if the operators allow it.",
                    f"model = onnx.load('model.onnx')\nmodel.ir_version = {read.get('supported')}\nonnx.save(model, 'older.onnx')",
                ),
            ),
        )
    supported = f" It takes up to {read.get('supported')}." if "supported" in read else ""
    return Cause(
        f"The file says opset {read.get('opset', 'that is newer')}, which this ONNX Runtime does not know yet.{supported}",
        Certainty.CERTAIN,
        (
            Step(
                "A newer runtime, or export with a lower opset.",
                "pip install -U onnxruntime\npython -m tf2onnx.convert --opset 17 …",
            ),
        ),
    )


MESSAGE = Message(
    id="onnx-version",
    title="The ONNX file is newer than the runtime",
    wordings=(
        Wording(
            "is under development and support for this is limited",
            r"Opset (?P<opset>\d{1,4}) is under development and support for this is limited(?:.{0,400}?Current official support for domain \S{1,20} is till opset (?P<supported>\d{1,3}))?",
        ),
        Wording(
            "Unsupported model IR version",
            r"model IR version: (?P<version>\d{1,4}), max supported IR version: (?P<supported>\d{1,4})",
        ),
        Wording("Unsupported model opset version"),
    ),
    explain=_explain,
    ways=(ways.CONVERT_ONNX, ways.DESCRIBE),
    sources=("https://github.com/Microsoft/onnxruntime/blob/master/docs/Versioning.md",),
)
