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
    if "axis" not in read:
        axes = (
            f"The data has {read.get('found_axes')} axes and the model's input {read.get('wanted_axes')}."
            if "found_axes" in read
            else "The data has another shape than the model's input."
        )
        return Cause(
            f"{axes} Most often the axis of rows is missing (or one too many).",
            Certainty.CERTAIN if "found_axes" in read else Certainty.LIKELY,
            (
                Step("See what it takes.", "print(interpreter.get_input_details()[0]['shape'], x.shape)"),
                Step("A single picture: add the axis of rows.", "x = x[None]"),
            ),
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
            "Cannot set tensor: Dimension mismatch. Got",
            r"Got (?P<found>\d{1,9}) but expected (?P<wanted>\d{1,9}) for dimension (?P<axis>\d{1,3}) of input",
        ),
        Wording(
            "Cannot set tensor: Dimension mismatch. Got",
            r"Got (?P<found_axes>\d{1,3})(?: dimensions)? but expected (?P<wanted_axes>\d{1,3})(?: dimensions)? for input",
        ),
        Wording("Dimension mismatch. Got", beside="set tensor"),
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
