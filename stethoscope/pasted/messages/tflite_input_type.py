"""The TFLite model takes another type of numbers."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    found, wanted = read.get("found", "one type").upper(), read.get("wanted", "another").upper()
    if wanted in ("UINT8", "INT8") and found.startswith("FLOAT"):
        return Cause(
            f"The model's input is {wanted} and {found} came. Where its scale is not 0 it was quantised, and the values have to be scaled by the input's own scale and zero point; where it is 0 it takes the bytes of a picture as they are.",
            Certainty.CERTAIN,
            (
                Step(
                    "Quantise the input.",
                    f"detail = interpreter.get_input_details()[0]\nscale, zero = detail['quantization']\nx = np.clip(np.round(x / scale + zero), {'0, 255' if wanted == 'UINT8' else '-128, 127'}).astype(detail['dtype'])",
                ),
                Step(
                    "And back at the output.",
                    "scale, zero = output['quantization']\ny = (y.astype('float32') - zero) * scale",
                ),
                Step("Or convert with float ends.", "converter.inference_input_type = tf.float32"),
            ),
        )
    dtype = {"FLOAT32": "float32", "INT64": "int64", "INT32": "int32", "UINT8": "uint8", "FLOAT16": "float16"}.get(
        wanted, "float32"
    )
    scaled = (
        " A picture of bytes also has to be scaled as in the training."
        if found in ("UINT8", "3") and wanted.startswith("FLOAT")
        else ""
    )
    return Cause(
        f"The model's input is {wanted} and {found} came.{scaled}",
        Certainty.CERTAIN,
        (
            Step("Convert it to the input's type.", f"x = x.astype('{dtype}')"),
            Step("See what it wants.", "print(interpreter.get_input_details())"),
        ),
    )


MESSAGE = Message(
    id="tflite-input-type",
    title="The TFLite model takes another type of numbers",
    wordings=(
        Wording(
            "Cannot set tensor: Got value of type",
            r"Got value of type (?P<found>\w{1,20}) but expected type (?P<wanted>\w{1,20}) for input (?P<input>\d{1,6})(?:, name: (?P<name>\S{1,120}))?",
        ),
        Wording(
            "cannot set tensor: got value of type",
            r"got value of type (?P<found>\w{1,20}) but expected type (?P<wanted>\w{1,20}) for input (?P<input>\d{1,6})(?:, name: (?P<name>\S{1,120}))?",
        ),
        Wording(
            "Cannot set tensor: Got tensor of type",
            r"Got tensor of type (?P<found>\w{1,20}) but expected type (?P<wanted>\w{1,20}) for input (?P<input>\d{1,6})",
        ),
        Wording(
            "Cannot convert between a TensorFlowLite tensor with type",
            r"with type (?P<wanted>\w{1,20}) and a Java object of type (?P<found>.{1,60}?)(?: |$)",
        ),
    ),
    explain=_explain,
    ways=(ways.DESCRIBE, ways.CONVERT_INT8),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/58101",
        "https://github.com/ultralytics/ultralytics/issues/8875",
        "https://github.com/tensorflow/tensorflow/issues/44708",
    ),
)
