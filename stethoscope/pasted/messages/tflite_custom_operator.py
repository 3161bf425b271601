"""An operator that this TFLite runtime was not given."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    operator = read.get("operator", "An operator")
    if operator in ("Enter", "Exit", "Merge", "Switch", "NextIteration", "LoopCond", "RefEnter"):
        return Cause(
            f"“{operator}” belongs to a loop or branch of TensorFlow 1, which the converter took along as a custom operator and no runtime has: the graph was frozen with control flow of version 1, often around batch normalisation or dropout that asks whether it trains.",
            Certainty.LIKELY,
            (
                Step(
                    "Freeze the graph for inference, or convert the model with TensorFlow 2.",
                    "tf.compat.v1.keras.backend.set_learning_phase(0)   # before the model is built\nconverter = tf.lite.TFLiteConverter.from_keras_model(model)",
                ),
                Step("Do not let unknown operators through.", "converter.allow_custom_ops = False"),
            ),
        )
    if read.says("Unsupported TFLite OP"):
        return Cause(
            f"The program that reads the TFLite file does not know its operator “{operator}”.",
            Certainty.CERTAIN,
            (
                Step(
                    "See which operators the file holds; convert from the original model instead.",
                    "stethoscope describe model.tflite",
                ),
            ),
        )
    return Cause(
        f"“{operator}” is an operator of its own, which the runtime has to be given: the one for an Edge TPU, of MediaPipe, or one that was let through by allow_custom_ops.",
        Certainty.LIKELY,
        (
            Step(
                "Edge TPU: with its delegate.",
                "tflite.Interpreter('model_edgetpu.tflite', experimental_delegates=[tflite.load_delegate('libedgetpu.so.1')])",
            ),
            Step("Others: the runtime that brings it (MediaPipe, TFLite Support), or its library of operators."),
        ),
    )


MESSAGE = Message(
    id="tflite-custom-operator",
    title="An operator that this TFLite runtime was not given",
    wordings=(
        Wording("Encountered unresolved custom op", r"unresolved custom op: (?!Flex)(?P<operator>\w{1,80})"),
        Wording("Unsupported TFLite OP", r"Unsupported TFLite OP: (?:\d{1,4} )?(?P<operator>\w{1,80})"),
    ),
    explain=_explain,
    ways=(ways.DESCRIBE, ways.CONVERT_TFLITE),
    sources=(
        "https://github.com/xuannianz/EfficientDet/issues/58",
        "https://github.com/zhenhuaw-me/tflite2onnx/issues/75",
    ),
)
