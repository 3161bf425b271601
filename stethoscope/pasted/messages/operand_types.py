"""Two values of types that do not go together are calculated with."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    one, other = read.get("one", "a list"), read.get("other", "a number")
    none = (
        " None is a size that is open (the number of rows), or what a function without return gives."
        if "NoneType" in (one, other)
        else ""
    )
    lists = (
        " A list is no array: its sums and products mean something else."
        if "list" in (one, other) or one == "a list"
        else ""
    )
    return Cause(
        f"{one} and {other} are calculated with each other, which Python cannot.{none}{lists}",
        Certainty.LIKELY,
        (
            Step("At that line, see what both are.", "print(type(a), a, type(b), b)"),
            Step(
                "Open sizes inside of a model; lists as arrays.",
                "n = tf.shape(x)[0]   # not x.shape[0]\nx = np.asarray(x, 'float32') / 255",
            ),
        ),
    )


MESSAGE = Message(
    id="operand-types",
    title="Two values of types that do not go together are calculated with",
    wordings=(
        Wording(
            "unsupported operand type(s) for",
            r"unsupported operand type\(s\) for (?P<sign>[^:]{1,12}): '(?P<one>[\w.]{1,40})' and '(?P<other>[\w.]{1,40})'",
        ),
        Wording("can't multiply sequence by non-int of type"),
    ),
    explain=_explain,
    ways=(ways.DATA, ways.LAYERS),
    sources=("https://github.com/tensorflow/tensorflow/issues/48428",),
    rank=-2,
)
