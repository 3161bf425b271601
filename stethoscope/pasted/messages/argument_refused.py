"""An argument has a value that is not allowed: the message names both."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording

_ARGUMENT = r"[`'\"](?P<argument>[\w.]{1,40})[`'\"](?: argument| parameter)?"
_REFUSED = r" (?P<rule>(?:must|should|can only|cannot|has to|needs to|is expected to|expects)(?: only| not)?(?: be)? [^.\n]{1,160}?)"
_BETWEEN = r"[.,:;]?(?: [^\n]{0,120}?)? ?"


def _explain(read: Read) -> Cause:
    argument = read.get("argument") or read.get("named") or "an argument"
    received = read.get("received").strip(" .")
    rule = " ".join(f"{read.get('rule')}{read.get('more')}".split()).strip(" .,:")
    return Cause(
        f"“{argument}” does not have a value that is taken here"
        + (f": it {rule}" if rule else "")
        + (f"; it was {received}" if received else "")
        + ".",
        Certainty.LIKELY,
        (
            Step(
                "At your own line, see what is handed over under this name.",
                f"print(type({argument.rpartition('.')[2]}), {argument.rpartition('.')[2]})"
                if argument != "an argument"
                else "",
            ),
            Step(
                "See what it may be in the installed version.",
                "help(keras.layers.Dense)   # the layer or function of that line",
            ),
        ),
    )


MESSAGE = Message(
    id="argument-refused",
    title="An argument has a value that is not allowed",
    wordings=(
        Wording(
            "Invalid value",
            r"Invalid value (?:received )?for (?:argument )?[`'\"](?P<argument>[\w.]{1,40})[`'\"](?: argument)?[.,:]? ?(?P<rule>[^\n]{0,200}?),?\.? ?(?:but )?[Rr]eceived:? (?P<received>[^\n]{1,160})",
        ),
        Wording("Received:", rf"(?:{_ARGUMENT}){_REFUSED}{_BETWEEN}Received:? (?P<received>[^\n]{{1,160}})"),
        Wording("received:", rf"(?:{_ARGUMENT}){_REFUSED}{_BETWEEN}received:? (?P<received>[^\n]{{1,160}})"),
        Wording("Got", rf"(?:{_ARGUMENT}){_REFUSED}{_BETWEEN}[Gg]ot:? (?P<received>[^\n]{{1,160}})"),
        Wording(
            "must be",
            rf"(?:[Aa]rgument {_ARGUMENT}|`(?P<named>[\w.]{{1,40}})`(?: argument)?){_REFUSED}(?P<more>[^\n]{{1,120}})",
        ),
        Wording(
            "should be",
            rf"(?:[Aa]rgument {_ARGUMENT}|`(?P<named>[\w.]{{1,40}})`(?: argument)?){_REFUSED}(?P<more>[^\n]{{1,120}})",
        ),
        Wording(
            "is not supported",
            r"(?:[Aa]rgument )?`(?P<argument>[\w.]{1,40})` (?:argument )?is (?P<rule>not supported[^\n]{0,120})",
        ),
    ),
    explain=_explain,
    ways=(ways.LAYERS, ways.DOCTOR),
    sources=("https://github.com/keras-team/keras/tree/master/keras/src",),
    rank=-2,
)
