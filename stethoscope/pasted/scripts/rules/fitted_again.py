"""A scaler or tokenizer fitted again on the rows that it should only transform.

Why: `fit_transform` on the test learns the test's own mean, words or classes; the same row then gets other numbers than in the training, and
the same word another id.
Example: `scaler.fit_transform(X_train)` and `model.predict(scaler.fit_transform(X_test))`.
Fix: `transform` for all that is not the training.
Source: scikit-learn.org/stable/common_pitfalls (inconsistent preprocessing); stackoverflow.com/questions/49444262
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.splits import part_of_split
from stethoscope.pasted.scripts.values import Call, Items, Made, Value, calls_behind


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for model in facts.models:
        fits = model.calls("fit")
        first = [one for fit in fits if (x := fit.argument("x", 0)) is not None for one in _fitting(x)]
        for call in model.calls("fit", "evaluate", "predict"):
            for again in _fitting(_held_out(call)):
                if id(again.node) in done or any(one is again for one in first):
                    continue
                before = next((one for one in first if _same_maker(one, again)), None)
                if (
                    before is None
                    or part_of_split(again.args[0] if again.args else None)
                    == part_of_split(before.args[0] if before.args else None)
                    is not None
                ):
                    continue
                done.add(id(again.node))
                function = again.call_node.func
                same = before.receiver is again.receiver
                edits = (
                    [facts.spans.rename_last(function, "transform")]
                    if same and isinstance(function, ast.Attribute)
                    else []
                )
                yield facts.finding(
                    again,
                    Fault.PREPROCESSING,
                    Severity.HIGH if same else Severity.MEDIUM,
                    0.9,
                    f"These rows are scaled by numbers of their own; the model was trained on rows that were scaled by others (line {facts.source.where(before.line).partition(':')[2]}).",
                    "Only transform what is not the training.",
                    edits,
                )


def _held_out(call: Call) -> Value | None:
    """What is given to be validated, judged or predicted."""
    if call.method != "fit":
        return call.argument("x", 0)
    given = call.argument("validation_data")
    return given.items[0] if isinstance(given, Items) and given.items else None


def _fitting(value: Value | None) -> list[Call]:
    """The calls of `fit_transform` that a value went through."""
    calls = [] if value is None else calls_behind(value)
    return [call for call in calls if call.method == "fit_transform" and isinstance(call.receiver, Made)]


def _same_maker(one: Call, other: Call) -> bool:
    """Whether both are of one scaler, or of two of a kind."""
    return (
        isinstance(one.receiver, Made)
        and isinstance(other.receiver, Made)
        and bool(one.receiver.call.name)
        and one.receiver.call.name == other.receiver.call.name
        and one.receiver.call.name.startswith("sklearn.preprocessing.")
    )


RULE = Rule(_run)
