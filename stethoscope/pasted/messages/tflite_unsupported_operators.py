"""The converter has no TFLite operator for a part of the model."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    operators = read.get("operators").removeprefix("tf.").strip()
    named = f"{operators}" if operators else "An operation"
    lists = (
        Step(
            "Loops of recurrent layers (TensorList…): fix batch and length, or unroll.",
            "keras.layers.LSTM(64, unroll=True)\nkeras.Input((100, 16), batch_size=1)",
        )
        if read.says("TensorList")
        else None
    )
    steps = (
        Step(
            "Let TensorFlow's own operators come along; the app then needs the Flex delegate.",
            "converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS, tf.lite.OpsSet.SELECT_TF_OPS]",
        ),
        *((lists,) if lists else ()),
        Step("Or write that part by other operators, or take it out of the model (texts, look-ups: before it)."),
    )
    return Cause(
        f"{named} has, as it is used here (its types, shapes and settings count), no counterpart among TFLite's own operators, so the conversion stops.",
        Certainty.CERTAIN,
        steps,
    )


MESSAGE = Message(
    id="tflite-unsupported-operators",
    title="The converter has no TFLite operator for a part of the model",
    wordings=(
        Wording("Some ops are not supported by the native TFLite runtime"),
        Wording("Some of the operators in the model are not supported by the standard TensorFlow Lite runtime"),
        Wording(
            "Some ops are not supported by the native TFLite runtime",
            r"TF Select ops: (?P<operators>[\w, ]{1,160}?) Details",
        ),
        Wording("Some ops in the model are custom ops", r"Custom ops: (?P<operators>[\w, ]{1,160}?) Details"),
        Wording(
            "is neither a custom op nor a flex op",
            r"'tf\.(?P<operators>\w{1,60})' op is neither a custom op nor a flex op",
        ),
        Wording("failed to legalize operation", r"failed to legalize operation '(?P<operators>tf\.\w{1,60})'"),
        Wording("Some of the operators in the model are not supported by the standard TensorFlow Lite runtime"),
        Wording(
            "Here is a list of operators for which you will need custom implementations",
            r"custom implementations: (?P<operators>[\w, ]{1,120}?)\.",
        ),
        Wording(
            "Ops that need custom implementation",
            r"enabled via setting the -emit-custom-ops flag\): (?P<operators>\w{1,80})",
        ),
        Wording("requires the Flex delegate"),
        Wording("Ops that can be supported by the flex runtime", r"\): (?P<operators>\w{1,80})"),
    ),
    explain=_explain,
    ways=(ways.CONVERT_TFLITE,),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/40157",
        "https://github.com/tensorflow/tensorflow/issues/38478",
        "https://www.tensorflow.org/lite/guide/ops_select",
    ),
)
