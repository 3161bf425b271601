"""The ONNX model's inputs have other names."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    if "output" in read:
        return Cause(
            f"The model has no output named {read.get('output')}.",
            Certainty.CERTAIN,
            (Step("See all.", "print([o.name for o in session.get_outputs()])"),),
        )
    found, wanted = read.get("found"), read.get("wanted")
    told = f"The model's input is {wanted}" if wanted else "The model has no input of that name"
    told += f" and {found} was given." if found else "."
    return Cause(
        told,
        Certainty.CERTAIN if read.says("nnx", "NVALID_ARGUMENT", "input feed", "Feed Input") else Certainty.LIKELY,
        (
            Step("Ask the session for the names.", "name = session.get_inputs()[0].name\nsession.run(None, {name: x})"),
            Step("See all.", "print([i.name for i in session.get_inputs()], [o.name for o in session.get_outputs()])"),
        ),
    )


MESSAGE = Message(
    id="onnx-input-name",
    title="The ONNX model's inputs have other names",
    wordings=(
        Wording(
            "are missing from input feed",
            r"Required inputs \(\[(?P<wanted>[^\]]{1,200})\]\) are missing from input feed \(\[(?P<found>[^\]]{0,200})\]\)",
        ),
        Wording("Invalid Feed Input Name", r"Invalid Feed Input Name: ?(?P<found>\S{1,120})"),
        Wording("Invalid input name", r"Invalid input name: ?(?P<found>\S{1,120})"),
        Wording("Missing Input:", r"Missing Input: ?(?P<wanted>\S{1,120})"),
        Wording("Invalid Output Name", r"Invalid Output Name: ?(?P<output>\S{1,120})"),
    ),
    explain=_explain,
    ways=(ways.DESCRIBE,),
    sources=(
        "https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/python/onnxruntime_inference_collection.py",
    ),
)
