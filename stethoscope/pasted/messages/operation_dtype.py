"""Two types of numbers meet in one operation."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    operation, wanted, found = (
        read.get("operation", "an operation"),
        read.get("wanted", "one type"),
        read.get("found", "another"),
    )
    kinds = {"double": "float64", "float": "float32", "half": "float16"}
    target = kinds.get(wanted, wanted)
    if {wanted, found} <= {"float", "double", "float32", "float64"}:
        return Cause(
            f"{operation} got {found} where it has {wanted}. TensorFlow does not convert by itself; NumPy and pandas make float64, layers and tf.constant make float32.",
            Certainty.CERTAIN,
            (
                Step("Make float32 of the data at its source.", "x = np.asarray(x, dtype='float32')"),
                Step("In a tensor.", "x = tf.cast(x, tf.float32)"),
            ),
        )
    return Cause(
        f"{operation} got {found} where it has {wanted}. TensorFlow does not convert by itself.",
        Certainty.CERTAIN,
        (
            Step("Convert the one that is wrong.", f"x = tf.cast(x, tf.{target})"),
            Step("In a loss of your own, labels are often whole numbers.", "y_true = tf.cast(y_true, y_pred.dtype)"),
        ),
    )


MESSAGE = Message(
    id="operation-dtype",
    title="Two types of numbers meet in one operation",
    wordings=(
        Wording(
            "was expected to be a",
            r"cannot compute (?P<operation>\w{1,60}) as input #(?P<input>\d{1,3})\(zero-based\) was expected to be an? (?P<wanted>\w{1,20}) tensor but is an? (?P<found>\w{1,20}) tensor",
        ),
        Wording(
            "that does not match type",
            r"Input '(?P<input>\w{1,40})' of '(?P<operation>\w{1,60})' Op has type (?P<found>\w{1,20}) that does not match type (?P<wanted>\w{1,20})",
        ),
        Wording(
            "does not match expected type of",
            r"has type (?P<found>\w{1,20}) .{0,60}does not match expected type of (?P<wanted>\w{1,20})",
        ),
    ),
    explain=_explain,
    ways=(ways.DATA, ways.CHECK),
    sources=(
        "https://github.com/tensorflow/probability/issues/1542",
        "https://github.com/tensorlayer/SRGAN/issues/151",
    ),
)
