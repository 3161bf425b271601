"""Keyword and place give one argument twice."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    function, argument = read.get("function", "The function"), read.get("argument", "an argument")
    weight = (
        " add_weight takes the shape first in Keras 3 and the name first in Keras 2."
        if "add_weight" in function or read.says("add_weight")
        else ""
    )
    return Cause(
        f"{function} got “{argument}” by its place and by its name: self is missing in a method of one's own, a value stands one place too far, or the order of arguments is that of another version.{weight}",
        Certainty.LIKELY,
        (
            Step(
                "Give all by name.",
                "kernel = self.add_weight(name='kernel', shape=(3, 4), initializer='glorot_uniform')\ndef call(self, x, training=None):",
            ),
        ),
    )


MESSAGE = Message(
    id="attributes-twice",
    title="Keyword and place give one argument twice",
    wordings=(
        Wording(
            "got multiple values for",
            r"(?P<function>[\w.<>]{1,80})\(\) got multiple values for (?:keyword )?argument '(?P<argument>\w{1,60})'",
        ),
        Wording("got multiple values for argument", r"got multiple values for argument '(?P<argument>\w{1,60})'"),
        Wording("was passed both positionally and as a keyword argument", r"`(?P<argument>\w{1,40})` was passed both"),
    ),
    explain=_explain,
    ways=(ways.DOCTOR,),
    sources=("https://docs.python.org/3/library/exceptions.html#TypeError",),
    rank=-1,
    general=True,
)
