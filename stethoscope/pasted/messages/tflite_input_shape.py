"""The TFLite model takes another shape."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    found, wanted, axis = read.get("found", "one length"), read.get("wanted", "another"), read.get("axis")
    if "wanted_bytes" in read:
        return Cause(
            f"The input takes {read.get('wanted_bytes')} bytes and the buffer has {read.get('found_bytes')}: another size or type of the picture (four times is float32 against bytes).",
            Certainty.CERTAIN,
            (Step("Size, channels and type as the model has them."),),
        )
    rows = " A TFLite model is made for a fixed number of rows, most often 1." if axis == "0" else ""
    told = (
        f"Axis {axis} has {found} values and the model takes {wanted}."
        if axis
        else "The input has another shape than the model takes."
    )
    return Cause(
        f"{told}{rows}",
        Certainty.CERTAIN,
        (
            Step(
                "Other numbers of rows, or sizes that the model allows: resize the input, then allocate again.",
                "interpreter.resize_tensor_input(index, x.shape)\ninterpreter.allocate_tensors()",
            ),
            Step("A single picture: add the axis of rows.", "x = x[None]"),
        ),
    )


MESSAGE = Message(
    id="tflite-input-shape",
    title="The TFLite model takes another shape",
    wordings=(
        Wording(
            "Dimension mismatch. Got",
            r"Dimension mismatch\. Got (?P<found>\d{1,9}) but expected (?P<wanted>\d{1,9}) for dimension (?P<axis>\d{1,3}) of input (?P<input>\d{1,6})",
        ),
        Wording("Cannot set tensor: Dimension mismatch", r"Got (?P<found_axes>\d{1,3})? ?(?:dimensions )?"),
        Wording(
            "Cannot copy to a TensorFlowLite tensor",
            r"tensor \((?P<name>[^)]{1,80})\) with (?P<wanted_bytes>\d{1,12}) bytes from a Java Buffer with (?P<found_bytes>\d{1,12}) bytes",
        ),
    ),
    explain=_explain,
    ways=(ways.DESCRIBE,),
    sources=(
        "https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/lite/python/interpreter_wrapper/interpreter_wrapper.cc",
    ),
)
