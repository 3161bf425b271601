"""fit was given something that is neither an array nor a data set."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    kind = read.get("type", "something else")
    return Cause(
        f"x is {kind}. Keras takes NumPy arrays, tensors, data frames, data sets, Sequences and generators; often it is a list of lists, a list mixed with an array, or a data loader of another framework.",
        Certainty.LIKELY,
        (
            Step("Make arrays of lists.", "x, y = np.array(x), np.array(y)"),
            Step("Both x and y have to be of one kind.", "print(type(x), type(y))"),
        ),
    )


MESSAGE = Message(
    id="unrecognised-data",
    title="fit was given something that is neither an array nor a data set",
    wordings=(
        Wording("Unrecognized data type: x=", r"\(of type <class '(?P<type>[\w.]{1,80})'>\)"),
        Wording(
            "Failed to find data adapter that can handle input", r"handle input: (?P<type>.{1,120}?)(?:$| Traceback)"
        ),
        Wording(
            "Please provide as model inputs either a single array or a list of arrays", r"You passed: (?P<type>.{1,80})"
        ),
    ),
    explain=_explain,
    ways=(ways.DATA,),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/53836",
        "https://github.com/YerevaNN/mimic3-benchmarks/issues/132",
    ),
)
