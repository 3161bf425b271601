"""A size that is no whole number."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    value = f" ({read.get('value')})" if "value" in read else ""
    return Cause(
        f"A length, a number of steps or a range was given as a number with a point{value}: a division with / gives one even where it goes out, and files of some old models hold such sizes.",
        Certainty.LIKELY,
        (
            Step("Divide whole numbers.", "steps = rows // batch   # not rows / batch"),
            Step("Or make it whole.", "units = int(units)"),
        ),
    )


MESSAGE = Message(
    id="size-not-whole",
    title="A size that is no whole number",
    wordings=(
        Wording(
            "Dimension value must be integer or None or have an __index__ method",
            r"__index__ method, got (?:value ')?(?P<value>[^' ]{1,40}?)'?\.? ?(?:with type|$|\s)",
        ),
        Wording("Dimension value must be integer or None or have an __index__ method"),
        Wording("'float' object cannot be interpreted as an integer"),
        Wording("'numpy.float64' object cannot be interpreted as an integer"),
    ),
    explain=_explain,
    ways=(ways.LAYERS,),
    sources=("https://github.com/commaai/openpilot/issues/1656",),
    rank=-1,
)
