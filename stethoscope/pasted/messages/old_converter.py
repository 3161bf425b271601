"""TOCO, the converter of before TensorFlow 2.2, gave up."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    output = read.get("output")
    told = (
        f"It does not find the output “{output}” in the graph"
        if output
        else "It could not follow the shapes or operators of the graph"
    )
    return Cause(
        f"TOCO, the old converter to TFLite, ended the program by a check of its own. {told}; it is no longer developed.",
        Certainty.LIKELY,
        (
            Step(
                "Convert with a TensorFlow of today.",
                "converter = tf.lite.TFLiteConverter.from_keras_model(model)\nopen('model.tflite', 'wb').write(converter.convert())",
            ),
            Step(
                "TensorFlow 1.15 to 2.1 has the newer one behind a switch.",
                "converter.experimental_new_converter = True",
            ),
        ),
    )


MESSAGE = Message(
    id="old-converter",
    title="TOCO, the converter of before TensorFlow 2.2, gave up",
    wordings=(
        Wording("lite/toco/", r"lite/toco/(?P<file>[\w./]{1,80}\.cc):\d{1,6}\] Check failed: (?P<condition>.{1,160})"),
        Wording("lite/toco/tooling_util.cc", r"Specified output array \"(?P<output>[^\"]{1,80})\" is not produced"),
    ),
    explain=_explain,
    ways=(ways.CONVERT_TFLITE,),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/34210",
        "https://github.com/larq/compute-engine/issues/142",
    ),
)
