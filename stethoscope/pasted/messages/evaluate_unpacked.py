"""evaluate gives another number of values."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    return Cause(
        "model.evaluate gives the loss and then each metric that compile was told of: one number without metrics, more with several; none where there were no rows.",
        Certainty.LIKELY,
        (
            Step("By name, whatever they are.", "print(model.evaluate(x, y, return_dict=True))"),
            Step("Two values need one metric.", "model.compile(optimizer, loss, metrics=['accuracy'])"),
            Step("See whether there are rows.", "print(len(x))"),
        ),
    )


MESSAGE = Message(
    id="evaluate-unpacked",
    title="evaluate gives another number of values",
    wordings=(
        Wording(
            "values to unpack",
            r"(?:not enough|too many) values to unpack \(expected (?P<wanted>\d{1,3})(?:, got (?P<found>\d{1,3}))?\)",
            beside="evaluate(",
        ),
        Wording(
            "object is not iterable",
            r"'(?P<type>float|numpy\.float64|numpy\.float32)' object is not iterable",
            beside="evaluate(",
        ),
        Wording("cannot unpack non-iterable float object", beside="evaluate("),
    ),
    explain=_explain,
    ways=(ways.CHECK,),
    sources=("https://github.com/nagypeterjob/Sentiment-Analysis-NLTK-ML-LSTM/issues/1",),
    rank=-1,
)
