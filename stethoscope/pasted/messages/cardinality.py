"""Inputs and targets have different numbers of rows."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    inputs, targets = read.get("inputs").strip(" ,"), read.get("targets").strip(" ,")
    look = Step(
        "Look at both, then at the line where they were split or filtered: it has to treat both alike.",
        "print(len(x), len(y))\nx_train, x_test, y_train, y_test = train_test_split(x, y, test_size=0.2)",
    )
    if not inputs or not targets:
        return Cause("The arrays that were given have different numbers of rows.", Certainty.CERTAIN, (look,))
    if inputs.count(",") > 3 and len({part.strip() for part in inputs.split(",")}) == 1:
        return Cause(
            f"x is a list of arrays ({inputs[:24]}…), which Keras takes for many inputs: each array's length is read as a number of rows.",
            Certainty.LIKELY,
            (Step("Make one array of the list.", "x = np.array(x)\ny = np.array(y)"),),
        )
    if "arrays" in read:
        return Cause(
            f"One array has {inputs} rows and the other {targets}: they have to be of the same rows.",
            Certainty.CERTAIN,
            (look,),
        )
    return Cause(f"x has {inputs} rows and y has {targets}: they have to be the same rows.", Certainty.CERTAIN, (look,))


MESSAGE = Message(
    id="cardinality",
    title="Inputs and targets have different numbers of rows",
    wordings=(
        Wording(
            "Data cardinality is ambiguous",
            r"cardinality is ambiguous.{0,90}?'?x'? sizes: (?P<inputs>[\d, ]{1,60}).{0,4}?'?y'? sizes: (?P<targets>[\d, ]{1,60})",
        ),
        Wording("Data cardinality is ambiguous"),
        Wording(
            "Input arrays should have the same number of samples as target arrays",
            r"Found (?P<inputs>\d{1,12}) input samples and (?P<targets>\d{1,12}) target samples",
        ),
        Wording(
            "Found input variables with inconsistent numbers of samples",
            r"(?P<arrays>inconsistent) numbers of samples: \[(?P<inputs>\d{1,12}), (?P<targets>\d{1,12})\]",
        ),
        Wording(
            "should have the same number of samples. Got array shapes", r"Got array shapes: (?P<shapes>[^\n]{1,120})"
        ),
        Wording("Input and target must have same length"),
    ),
    explain=_explain,
    ways=(ways.DATA,),
    sources=(
        "https://github.com/tensorflow/tensorflow/issues/47105",
        "https://github.com/keras-team/keras/issues/14368",
        "https://github.com/keras-team/keras-io/issues/828",
    ),
)
