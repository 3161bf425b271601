"""A metric of scikit-learn got one-hot labels or probabilities beside class numbers."""

from __future__ import annotations

from stethoscope.pasted.messages import ways
from stethoscope.pasted.messages.message import Cause, Certainty, Message, Read, Step, Wording


def _explain(read: Read) -> Cause:
    if "several" in read:
        return Cause(
            "The labels have more than two classes, and precision, recall and F1 of two classes were asked for (average='binary').",
            Certainty.CERTAIN,
            (Step("Say how the classes are averaged.", "f1_score(y_true, y_pred, average='macro')"),),
        )
    if "unknown" in (read.get("first"), read.get("second")):
        return Cause(
            "One of the two is of a type that scikit-learn does not take for labels: an array of objects, as of mixed numbers and texts, or of None.",
            Certainty.LIKELY,
            (
                Step(
                    "See both, and give them one type.",
                    "print(y_true.dtype, y_pred.dtype)\ny_true = y_true.astype(int)",
                ),
            ),
        )
    first, second = read.get("first", "one kind"), read.get("second", "another")
    hint = (
        "probabilities, not classes"
        if "continuous" in (first, second) or second == "continuous-multioutput"
        else "one-hot rows beside class numbers"
    )
    return Cause(
        f"The truth is {first} and the prediction is {second}: one of them is still {hint}. A metric of classes compares one class number with one class number.",
        Certainty.LIKELY if "continuous" in first + second else Certainty.CERTAIN,
        (
            Step(
                "Make class numbers of both.",
                "y_pred = model.predict(x).argmax(axis=-1)\ny_true = y_true.argmax(axis=-1) if y_true.ndim > 1 else y_true",
            ),
            Step("One sigmoid unit: a threshold.", "y_pred = (model.predict(x) > 0.5).astype(int).ravel()"),
        ),
    )


MESSAGE = Message(
    id="metric-targets",
    title="A metric of scikit-learn got one-hot labels or probabilities beside class numbers",
    wordings=(
        Wording(
            "Classification metrics can't handle a mix of",
            r"mix of (?P<first>[\w-]{1,40}) and (?P<second>[\w-]{1,40}) targets",
        ),
        Wording("Target is multiclass but average='binary'", r"Target is (?P<several>multiclass) but"),
    ),
    explain=_explain,
    ways=(ways.CHECK,),
    sources=("https://github.com/scikit-learn/scikit-learn/blob/main/sklearn/metrics/_classification.py",),
)
