"""A loss or metric that is for something else than these outputs.

Why: a softmax gives shares of classes; mean squared error lets its gradient vanish where the network is surely wrong, and it learns far
slower than with cross-entropy. sparse_categorical_accuracy compares class numbers, categorical_accuracy rows of 0 and 1: beside the
other kind of labels their numbers mean nothing.
Example: `Dense(5, activation="softmax")` with `loss="mse"`; `loss="categorical_crossentropy", metrics=["sparse_categorical_accuracy"]`.
Fix: categorical_crossentropy for one-hot labels, sparse_categorical_crossentropy for class numbers; "accuracy" chooses by the loss.
Source: Goodfellow et al., Deep Learning (2016), 6.2.2; keras.io/api/metrics/accuracy_metrics
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.architecture.activations import SOFTMAX
from stethoscope.architecture.losses import REGRESSION_LOSSES
from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.models_built import metrics_of
from stethoscope.pasted.scripts.names import meaning
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Made, Ref, Value, text

_WRONG = {
    "categorical_crossentropy": "sparse_categorical_accuracy",
    "sparse_categorical_crossentropy": "categorical_accuracy",
}


def _run(facts: Facts) -> Iterator[Finding]:
    for _, call, head, loss in facts.compiles():
        if loss is None:
            continue
        if (
            head is not None
            and head.activation == SOFTMAX.name
            and (head.units or 0) > 1
            and loss.name in REGRESSION_LOSSES
        ):
            yield facts.finding(
                call,
                Fault.LOSS,
                Severity.MEDIUM,
                0.8,
                f"{loss.name} on a softmax over {head.units} classes: its gradient vanishes where the network is surely wrong.",
                "Cross-entropy: categorical for one-hot labels, sparse for class numbers.",
            )
        wrong = _WRONG.get(loss.name)
        if wrong and any(_name(one) == wrong for one in metrics_of(call)):
            yield facts.finding(
                call,
                Fault.METRIC,
                Severity.MEDIUM,
                0.9,
                f"{wrong} reads other labels than {loss.name} does: its number means nothing.",
                'Measure "accuracy": Keras chooses the kind by the loss.',
            )


def _name(value: Value) -> str:
    said = text(value)
    if said is not None:
        return said
    name = value.call.name if isinstance(value, Made) else value.name if isinstance(value, Ref) else ""
    last = meaning(name).rpartition(".")[2]
    return {
        "SparseCategoricalAccuracy": "sparse_categorical_accuracy",
        "CategoricalAccuracy": "categorical_accuracy",
    }.get(last, "")


RULE = Rule(_run, same_as=frozenset({"loss-for-task", "metric-for-task"}))
