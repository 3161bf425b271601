"""Quantising to whole numbers needs rows to measure ranges by."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    if "operator" in read:
        return Cause(
            f"{read.get('operator')} has no version in whole numbers.",
            Certainty.CERTAIN,
            (
                Step(
                    "Let such operators stay in float.",
                    "converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8, tf.lite.OpsSet.TFLITE_BUILTINS]",
                ),
            ),
        )
    return Cause(
        "Full integer quantisation has to see typical inputs to find the range of each tensor, and none were given (or none that reach every tensor).",
        Certainty.LIKELY if "loose" in read else Certainty.CERTAIN,
        (
            Step(
                "Give a hundred rows or so, prepared as for the training.",
                "def rows():\n    for x in x_train[:100]:\n        yield [x[None].astype('float32')]\nconverter.representative_dataset = rows",
            ),
            Step("Or quantise the weights only.", "converter.optimizations = [tf.lite.Optimize.DEFAULT]"),
        ),
    )


MESSAGE = Message(
    id="tflite-representative-data",
    title="Quantising to whole numbers needs rows to measure ranges by",
    wordings=(
        Wording("a `representative_dataset` must be specified"),
        Wording("representative_dataset is required"),
        Wording("Provide an input generator for representative_dataset"),
        Wording("Quantization not yet supported for op", r"not yet supported for op: '?(?P<operator>\w{1,60})"),
        Wording("max_value", r"(?P<loose>Failed to quantize)"),
    ),
    explain=_explain,
    ways=(ways.CONVERT_INT8,),
    sources=("https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/lite/python/lite.py",),
)
