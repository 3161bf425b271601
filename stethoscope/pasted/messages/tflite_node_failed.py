"""An operator of the TFLite model does not run."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    operator, node = read.get("operator", "An operator"), read.get("node")
    place = f" (node {node})" if node else ""
    first, second = read.get("first"), read.get("second")
    told = f" Its check compares {first} with {second}." if first and second else ""
    if "Delegate" in operator:
        return Cause(
            f"The delegate {operator}{place} failed: a part of the model that was handed to it does not run there, at the shape it got or on this device.",
            Certainty.LIKELY,
            (
                Step(
                    "Run it without the delegate: the operator's own message comes out, or it works.",
                    "interpreter = tf.lite.Interpreter('model.tflite', experimental_op_resolver_type=tf.lite.experimental.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES)",
                ),
                Step(
                    "Look whether the input was resized, and allocate anew.",
                    "print(interpreter.get_input_details()[0]['shape'])",
                ),
            ),
        )
    if operator.startswith(("GATHER", "EMBEDDING")) and read.says("out of bounds"):
        return Cause(
            f"{operator}{place} was given an index beyond its table: the input holds a number that the model has no row for.",
            Certainty.CERTAIN,
            (Step("Look at the range of the input.", "print(x.min(), x.max(), x.dtype)"),),
        )
    return Cause(
        f"{operator}{place} refuses the shapes or values that reach it.{told} Usual are an input that was resized (another batch) in a model with fixed shapes inside, and an input in another order or type.",
        Certainty.LIKELY,
        (
            Step("Give the shape that the model was converted with.", "print(interpreter.get_input_details())"),
            Step(
                "Another batch: convert with that batch, or with a free one.",
                "converter = tf.lite.TFLiteConverter.from_keras_model(model)",
            ),
        ),
    )


MESSAGE = Message(
    id="tflite-node-failed",
    title="An operator of the TFLite model does not run",
    wordings=(
        Wording(
            "failed to invoke",
            r"(?:\((?P<first>-?\d{1,12}) != (?P<second>-?\d{1,12})\) ?)?[Nn]ode number (?P<node>\d{1,6}) \((?P<operator>\w{1,60})\) failed to invoke",
        ),
        Wording(
            "failed to prepare",
            r"(?:\((?P<first>-?\d{1,12}) != (?P<second>-?\d{1,12})\) ?)?[Nn]ode number (?P<node>\d{1,6}) \((?P<operator>\w{1,60})\) failed to prepare",
        ),
    ),
    explain=_explain,
    ways=(ways.DESCRIBE, ways.PREDICT),
    sources=(
        "https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/lite/core/subgraph.cc",
        "https://github.com/tensorflow/tensorflow/issues/35532",
    ),
    rank=-1,
)
