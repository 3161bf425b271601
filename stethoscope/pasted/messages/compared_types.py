"""Two values of different types are compared."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    one, other = read.get("one", "one type"), read.get("other", "another")
    none = "NoneType" in (one, other)
    list_ = "list" in (one, other)
    hint = (
        " An argument was given by place and landed where a number is wanted (as the vocabulary of StringLookup, whose first argument is max_tokens)."
        if list_
        else " A size that is open (None) or a value that was never set is one of them."
        if none
        else ""
    )
    return Cause(
        f"{one} and {other} are compared, which Python does not do.{hint}",
        Certainty.LIKELY,
        (
            Step("Name the arguments.", "keras.layers.StringLookup(vocabulary=words)"),
            Step("See both at that line.", "print(type(a), type(b))"),
        ),
    )


MESSAGE = Message(
    id="compared-types",
    title="Two values of different types are compared",
    wordings=(
        Wording(
            "not supported between instances of",
            r"'(?P<sign>[<>=]{1,2})' not supported between instances of '(?P<one>\w{1,40})' and '(?P<other>\w{1,40})'",
        ),
    ),
    explain=_explain,
    ways=(ways.LAYERS,),
    sources=("https://github.com/tensorflow/tensorflow/issues/46355",),
    rank=-1,
)
