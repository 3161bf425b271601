"""The ONNX model takes another shape."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    name = f"“{read.get('input')}”" if "input" in read else "An input"
    look = Step(
        "See what it takes; a text or None stands for an open axis.",
        "print([(i.name, i.shape, i.type) for i in session.get_inputs()])",
    )
    if "found_axes" in read:
        return Cause(
            f"{name} has {read.get('wanted_axes')} axes and got {read.get('found_axes')}: most often the axis of rows is missing.",
            Certainty.CERTAIN,
            (Step("Add it.", "x = x[None]"), look),
        )
    found, wanted, axis = read.number("found"), read.number("wanted"), read.number("axis")
    if found is None or wanted is None:
        return Cause(f"{name} got another shape than it was exported with.", Certainty.CERTAIN, (look,))
    told = f"{name} takes {wanted} values in axis {axis} and got {found}"
    told += (
        f"; {read.get('wanted_2')} in axis {read.get('axis_2')} and got {read.get('found_2')}."
        if "axis_2" in read
        else "."
    )
    pair = {found, read.number("found_2")}, {wanted, read.number("wanted_2")}
    if (
        pair[0] & pair[1]
        and {1, 3} & {found, wanted, read.number("found_2"), read.number("wanted_2")}
        and "axis_2" in read
    ):
        order = "0, 3, 1, 2" if wanted in (1, 3) else "0, 2, 3, 1"
        return Cause(
            f"{told} The same lengths in another order: channels first against channels last.",
            Certainty.LIKELY,
            (Step("Move the axis.", f"x = x.transpose({order})"), look),
        )
    if axis == 0:
        return Cause(
            f"{told} The model was exported with a fixed length there, most often the number of rows.",
            Certainty.CERTAIN,
            (
                Step(
                    "Export it with an open axis of rows.",
                    "tf2onnx.convert.from_keras(model, input_signature=[tf.TensorSpec((None, 224, 224, 3), tf.float32)])",
                ),
                Step(
                    "Or give as many rows as it takes.",
                    f"for row in x: session.run(None, {{name: row[None]}})   # {wanted} at once",
                ),
                look,
            ),
        )
    return Cause(
        f"{told} It was exported for a fixed size.",
        Certainty.CERTAIN,
        (Step("Bring the data to that size (resize, pad), or export with open axes."), look),
    )


MESSAGE = Message(
    id="onnx-dimensions",
    title="The ONNX model takes another shape",
    wordings=(
        Wording(
            "Got invalid dimensions for input",
            r"invalid dimensions for input: (?P<input>[^ ]{1,120}) for the following indices index: (?P<axis>\d{1,3}) Got: (?P<found>\d{1,12}) Expected: (?P<wanted>\d{1,12})(?: index: (?P<axis_2>\d{1,3}) Got: (?P<found_2>\d{1,12}) Expected: (?P<wanted_2>\d{1,12}))?",
        ),
        Wording(
            "Invalid rank for input",
            r"Invalid rank for input: (?P<input>\S{1,120}) Got: (?P<found_axes>\d{1,3}) Expected: (?P<wanted_axes>\d{1,3})",
        ),
        Wording("Got invalid dimensions for input"),
    ),
    explain=_explain,
    ways=(ways.DESCRIBE, ways.DATA),
    sources=(
        "https://github.com/OleehyO/TexTeller/issues/91",
        "https://github.com/onnx/sklearn-onnx/issues/303",
        "https://github.com/ccoreilly/wav2vec2-service/issues/6",
    ),
)
