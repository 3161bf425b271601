"""An operator of the ONNX model fails on the shapes that reach it."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    operator, node = read.get("operator", "An operator"), read.get("node")
    named = f"{operator}{f' “{node}”' if node else ''}"
    shapes = (
        f" It got {{{read.get('found')}}} and is to make {{{read.get('wanted')}}} of it." if "wanted" in read else ""
    )
    if read.says("Failed to allocate memory", "bad_alloc", "BFCArena::AllocateRawInternal"):
        return Cause(
            f"{named} ran out of memory.",
            Certainty.CERTAIN,
            (
                Step(
                    "Smaller batches, or a limit for the arena.",
                    "for rows in np.array_split(x, 10): session.run(None, {name: rows})",
                ),
            ),
        )
    return Cause(
        f"{named} failed on the shapes that reached it.{shapes} The export wrote a size down as a constant (often the number of rows or the length), and other data came.",
        Certainty.LIKELY,
        (
            Step(
                "Try the shape it was exported with; if that runs, export with open axes.",
                "print([(i.name, i.shape) for i in session.get_inputs()])",
            ),
            Step("In the model: shapes from the input, not from numbers.", "x = keras.ops.reshape(x, (-1, features))"),
        ),
    )


MESSAGE = Message(
    id="onnx-runtime-shape",
    title="An operator of the ONNX model fails on the shapes that reach it",
    wordings=(
        Wording(
            "Non-zero status code returned while running",
            r"running (?P<operator>\w{1,60}) node\. Name: ?'(?P<node>[^']{0,160})'(?:.{0,600}?Input shape: ?\{(?P<found>[^}]{0,60})\}, requested shape: ?\{(?P<wanted>[^}]{0,60})\})?",
        ),
    ),
    explain=_explain,
    ways=(ways.DESCRIBE, ways.CONVERT_ONNX),
    sources=("https://github.com/microsoft/onnxruntime/blob/main/onnxruntime/core/framework/sequential_executor.cc",),
    rank=-1,
)
