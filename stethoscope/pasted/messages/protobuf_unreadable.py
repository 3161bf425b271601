"""A file is not the protocol buffer that it is read as."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    if "zero" in read:
        return Cause(
            "The ids of a label map begin at 1; 0 is the background.",
            Certainty.CERTAIN,
            (Step("Count from 1.", "item {\n  id: 1\n  name: 'cat'\n}"),),
        )
    if "place" in read:
        return Cause(
            f"A text of settings (pipeline.config, label_map.pbtxt) is not written as wanted at line and column {read.get('place')}: {read.get('reason')}",
            Certainty.CERTAIN,
            (
                Step(
                    "Look there: a quote, a brace, a colon, a backslash in a path, or a name that this version does not have."
                ),
            ),
        )
    return Cause(
        "The bytes are not of the kind that they are read as: a text where the binary form is wanted or the other way round (.pbtxt, .pb; a label map that is not written as one), an empty or cut-off file, or a pointer of Git LFS.",
        Certainty.LIKELY,
        (
            Step("See how it begins.", "head -c 200 FILE"),
            Step("A label map is text.", "item {\n  id: 1\n  name: 'cat'\n}"),
            Step(
                "A frozen graph is read as bytes.",
                "graph = tf.compat.v1.GraphDef.FromString(open('model.pb', 'rb').read())",
            ),
        ),
    )


MESSAGE = Message(
    id="protobuf-unreadable",
    title="A file is not what it is read as",
    wordings=(
        Wording("Error parsing message", unless="ONNX"),
        Wording("google.protobuf.message.DecodeError", unless="nnx"),
        Wording(
            "google.protobuf.text_format.ParseError",
            r"ParseError: (?P<place>\d{1,6}:\d{1,6}) ?: ?(?P<reason>[^\n]{1,160})",
        ),
        Wording("Label map id 0 is reserved for the background label", r"(?P<zero>id 0)"),
        Wording("Label map ids should be >= 0", r"(?P<zero>ids should be)"),
    ),
    explain=_explain,
    ways=(ways.DESCRIBE,),
    sources=(
        "https://github.com/RomRoc/objdet_train_tensorflow_colab/issues/4",
        "https://github.com/EdjeElectronics/TensorFlow-Object-Detection-API-Tutorial-Train-Multiple-Objects-Windows-10/issues/600",
    ),
)
