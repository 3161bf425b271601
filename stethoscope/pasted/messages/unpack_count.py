"""Another number of values comes than is taken."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    wanted, found = read.get("wanted"), read.get("found")
    told = f"The line takes {wanted or 'another number of'} values" + (
        f", and {found} came" if found else ", and more came"
    )
    return Cause(
        f"{told}: a shape with another number of axes (grey pictures, no batch), a data set or generator that gives (x, y) or (x, y, weights), evaluate with another number of metrics, or an LSTM that returns its states.",
        Certainty.LIKELY,
        (
            Step("See what comes before it is taken apart.", "print(len(values), values)"),
            Step(
                "evaluate by name; a shape by its end.",
                "scores = model.evaluate(x, y, return_dict=True)\nheight, width = picture.shape[:2]",
            ),
        ),
    )


MESSAGE = Message(
    id="unpack-count",
    title="Another number of values comes than is taken",
    wordings=(
        Wording("too many values to unpack", r"too many values to unpack \(expected (?P<wanted>\d{1,3})\)"),
        Wording(
            "not enough values to unpack",
            r"not enough values to unpack \(expected (?:at least )?(?P<wanted>\d{1,3}), got (?P<found>\d{1,3})\)",
        ),
        Wording("need more than", r"need more than (?P<found>\d{1,3}) values? to unpack"),
    ),
    explain=_explain,
    ways=(ways.DATA,),
    sources=("https://docs.python.org/3/library/exceptions.html#ValueError",),
    rank=-2,
    general=True,
)
