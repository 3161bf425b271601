"""Probabilities are given where classes are counted.

Why: `predict` of a Keras model gives what the last layer gives, numbers between 0 and 1 for each class. accuracy_score, confusion_matrix
and their kin compare classes: they raise "Classification metrics can't handle a mix of binary and continuous targets".
Example: `accuracy_score(y_test, model.predict(x_test))`.
Fix: the class of the highest probability, or a threshold for a single unit.
Source: scikit-learn.org/stable/modules/generated/sklearn.metrics.accuracy_score.html; stackoverflow.com/questions/38015181
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.labels import labels_of
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Call, Made, Value

_OF_CLASSES = frozenset(
    {
        "accuracy_score",
        "balanced_accuracy_score",
        "classification_report",
        "cohen_kappa_score",
        "confusion_matrix",
        "f1_score",
        "fbeta_score",
        "jaccard_score",
        "matthews_corrcoef",
        "precision_score",
        "recall_score",
    }
)
_LEAVES_NUMBERS = frozenset({"flatten", "ravel", "squeeze", "reshape", "numpy", "tolist"})


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for call in facts.calls:
        if not call.name.startswith("sklearn.metrics.") or call.name.rpartition(".")[2] not in _OF_CLASSES:
            continue
        labels = labels_of(call.argument("y_true", 0))
        picked = call.argument("y_pred", 1)
        if (
            labels is not None
            and labels.kind == "one_hot"
            and isinstance(picked, Made)
            and picked.call.method == "argmax"
            and id(call.node) not in done
        ):
            done.add(id(call.node))
            yield facts.finding(
                call,
                Fault.METRIC,
                Severity.HIGH,
                0.92,
                f"The truth is one-hot rows ({labels.why}), and the predictions are class numbers: ValueError.",
                "Take argmax of the truth as well.",
            )
            continue
        predicted = _prediction(call.argument("y_pred", 1))
        model = None if predicted is None else facts.model_of(predicted.receiver)
        if predicted is None or model is None or model.kind == "subclass" or id(call.node) in done:
            continue
        done.add(id(call.node))
        head = model.head
        units = None if head is None else head.units
        one = f"y_pred = ({_written(facts, predicted)}[:, 0] > 0.5).astype(int)"
        many = f"y_pred = {_written(facts, predicted)}.argmax(axis=-1)"
        yield facts.finding(
            call,
            Fault.METRIC,
            Severity.HIGH,
            0.92,
            f"{call.name.rpartition('.')[2]} counts classes, and gets what predict gives: numbers between 0 and 1. It raises ValueError.",
            "Make classes of them."
            if units is not None
            else "Make classes of them: a threshold for one unit, argmax for several.",
            (),
            one if units == 1 else many if units is not None else f"{one}   # one unit\n{many}   # several",
        )


def _prediction(value: Value | None) -> Call | None:
    """The call of `predict` that a value is, if nothing has made classes of it."""
    while isinstance(value, Made):
        call = value.call
        if call.method == "predict":
            return call
        if call.method not in _LEAVES_NUMBERS or call.receiver is None:
            return None
        value = call.receiver
    return None


def _written(facts: Facts, predicted: Call) -> str:
    return facts.spans.text(predicted.call_node)[:80]


RULE = Rule(_run)
