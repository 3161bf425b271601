"""A function is traced again and again."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Role, Step, Wording


def _explain(read: Read) -> Cause:
    function, times, calls = read.get("function"), read.get("times"), read.get("calls")
    told = f"{function} was traced in {times} of its last {calls} calls. " if function else ""
    if "predict_function" in function or "one_step_on_data" in function or "multi_step_on_iterator" in function:
        return Cause(
            f"{told}Each trace takes much longer than a call: predict (or fit) in a loop with inputs whose size changes, with a model that is made or loaded anew each time, or one row at a time.",
            Certainty.POSSIBLE,
            (
                Step(
                    "Rows together in one call; for one row, call the model itself.",
                    "scores = model(x, training=False)   # or model.predict_on_batch(x)",
                ),
                Step("Make or load the model once, outside of the loop."),
                Step("Pad to a few sizes, so that shapes repeat.", "x = keras.utils.pad_sequences(x, maxlen=128)"),
            ),
        )
    return Cause(
        f"{told}Each trace takes much longer than a call. Python numbers as arguments make a trace for each value, tensors of changing shape for each shape, and a function that is made in a loop is new each time.",
        Certainty.LIKELY,
        (
            Step("Numbers as tensors.", "step(tf.constant(number))"),
            Step(
                "Say what changes.",
                "@tf.function(input_signature=[tf.TensorSpec((None, None), tf.float32)])   # or reduce_retracing=True",
            ),
            Step("Make the function once, outside of the loop."),
        ),
    )


MESSAGE = Message(
    id="retracing",
    title="A function is traced again and again",
    wordings=(
        Wording(
            "triggered tf.function retracing",
            r"(?P<times>\d{1,6}) out of the last (?P<calls>\d{1,6}) calls to <function (?P<function>[^>]{1,120}?) at ",
        ),
        Wording("triggered tf.function retracing"),
    ),
    explain=_explain,
    ways=(ways.ENDURANCE,),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/34025",
        "https://github.com/tensorflow/tensorflow/issues/38561",
        "https://www.tensorflow.org/guide/function#controlling_retracing",
    ),
    role=Role.WARNING,
)
