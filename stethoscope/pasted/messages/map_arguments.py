"""A function of a data set takes another number of values than a row has."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    function = read.get("function", "the function")
    return Cause(
        f"{function} takes {read.get('takes', 'another number of')} value(s) and each element of the data set has {read.get('given', 'more')}: an element that is a tuple is handed over as separate arguments.",
        Certainty.LIKELY,
        (
            Step("See what an element is.", "print(data.element_spec)"),
            Step(
                "Take all parts; inner tuples and dicts are one argument.",
                "data.map(lambda image, label: (prepare(image), label))",
            ),
        ),
    )


MESSAGE = Message(
    id="map-arguments",
    title="A function of a data set takes another number of values than a row has",
    wordings=(
        Wording(
            "positional argument",
            r"(?P<function>[\w.<>]{1,80})\(\) takes (?:from \d{1,2} to )?(?P<takes>\d{1,2}) positional arguments? but (?P<given>\d{1,2}) (?:was|were) given",
            beside="dataset",
        ),
        Wording(
            "positional argument",
            r"(?P<function>map_(?:fn|func)|<lambda>)\(\) takes (?:from \d{1,2} to )?(?P<takes>\d{1,2}) positional arguments? but (?P<given>\d{1,2}) (?:was|were) given",
            beside="map",
        ),
        Wording(
            "<lambda>() takes",
            r"(?P<function><lambda>)\(\) takes (?P<takes>\d{1,2}) positional arguments? but (?P<given>\d{1,2}) (?:was|were) given",
            beside="in converted code",
        ),
        Wording(
            "<lambda>() takes",
            r"(?P<function><lambda>)\(\) takes (?P<wanted>\d{1,2}) positional arguments? but (?P<found>\d{1,2}) (?:was|were) given",
            beside="in user code",
        ),
    ),
    explain=_explain,
    ways=(ways.DATA,),
    sources=("https://github.com/tensorflow/tensorflow/issues/39973",),
)
