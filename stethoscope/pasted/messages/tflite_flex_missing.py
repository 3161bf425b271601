"""The TFLite model needs TensorFlow's operators, and this runtime has none."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    operator = read.get("operator").removeprefix("Flex")
    named = f" ({operator}{', node ' + read.get('node_number') if 'node_number' in read else ''})" if operator else ""
    return Cause(
        f"The file was converted with SELECT_TF_OPS and holds operators of TensorFlow{named}; the plain runtime (tflite_runtime, LiteRT, a phone without the addition) does not have them.",
        Certainty.CERTAIN,
        (
            Step(
                "In Python: the interpreter of the whole TensorFlow has them.",
                "interpreter = tf.lite.Interpreter('model.tflite')",
            ),
            Step(
                "Android: add the dependency.", "implementation 'org.tensorflow:tensorflow-lite-select-tf-ops:2.16.1'"
            ),
            Step("Better: convert without them, and see which layer needs them."),
        ),
    )


MESSAGE = Message(
    id="tflite-flex-missing",
    title="The TFLite model needs TensorFlow's operators, and this runtime has none",
    wordings=(
        Wording("Encountered unresolved custom op: Flex", r"unresolved custom op: (?P<operator>Flex\w{1,60})"),
        Wording(
            "Make sure you apply/link the Flex delegate",
            r"Node number (?P<node_number>\d{1,7}) \((?P<operator>Flex\w{1,60})\) failed to prepare",
        ),
        Wording("Make sure you apply/link the Flex delegate"),
        Wording("Regular TensorFlow ops are not supported by this interpreter"),
        Wording("op(s), included in the given model, is(are) not supported by this interpreter"),
        Wording("Make sure you apply / link the Flex delegate"),
    ),
    explain=_explain,
    ways=(ways.CONVERT_TFLITE,),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/40157",
        "https://github.com/tensorflow/tensorflow/issues/58635",
        "https://github.com/am15h/tflite_flutter_plugin/issues/63",
    ),
)
