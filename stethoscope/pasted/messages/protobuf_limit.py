"""A graph or a tensor is larger than the 2 GB that protobuf takes."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    size = read.number("bytes")
    told = (
        f"{read.get('message', 'The graph')} would take {size / 1024**3:.3g} GiB"
        if size
        else "A graph or a tensor would be too large"
    )
    return Cause(
        f"{told}, and protobuf takes 2 GiB. Large arrays were put into the graph as constants (from_tensor_slices of the whole data, an embedding matrix), or the weights are frozen into it.",
        Certainty.CERTAIN if not read.says("Error parsing message") else Certainty.POSSIBLE,
        (
            Step(
                "Data: read it in pieces instead of as a constant.",
                "dataset = tf.data.Dataset.from_generator(rows, output_signature=signature)",
            ),
            Step(
                "Weights stay variables: save as .keras or SavedModel, not as a frozen graph.",
                "model.save('model.keras')\nmodel.export('folder')",
            ),
            Step("ONNX: weights beside the graph.", "python -m tf2onnx.convert --large_model …"),
        ),
    )


MESSAGE = Message(
    id="protobuf-limit",
    title="A graph or a tensor is larger than the 2 GB that protobuf takes",
    wordings=(
        Wording("Cannot create a tensor proto whose content is larger than 2GB"),
        Wording(
            "would be larger than the limit",
            r"protocol buffer of type (?P<message>[\w.]{1,60}) as the serialized size \((?P<bytes>\d{1,15}) ?bytes\)",
        ),
        Wording(
            "exceeds maximum protobuf size of 2GB",
            r"(?P<message>[\w.]{1,60}) exceeds maximum protobuf size of 2GB: (?P<bytes>\d{1,15})",
        ),
        Wording("GraphDef cannot be larger than 2GB"),
        Wording("Error parsing message"),
    ),
    explain=_explain,
    ways=(ways.DATA, ways.DESCRIBE),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/39108",
        "https://github.com/tensorflow/tensorflow/issues/57183",
        "https://github.com/onnx/tensorflow-onnx/issues/1040",
    ),
)
