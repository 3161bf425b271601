"""Sequences padded to one length in training and to another in use.

Why: a model with a fixed length refuses other rows; one that takes any length reads the same text with other padding, or cut elsewhere.
Example: `pad_sequences(train, maxlen=80)` and `pad_sequences(test, maxlen=100)`.
Fix: one length, kept in one name.
Source: keras.io/api/data_loading/timeseries (pad_sequences); stackoverflow.com/questions/42943291
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.splits import cut_from
from stethoscope.pasted.scripts.values import Call, Items, Made, Value, number


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for model in facts.models:
        trained = next((found for fit in model.calls("fit") if (found := _padding(fit.argument("x", 0)))), None)
        length = None if trained is None else number(trained.argument("maxlen", 1))
        if length is None or trained is None:
            continue
        for call in model.calls("fit", "evaluate", "predict"):
            given = call.argument("validation_data") if call.method == "fit" else call.argument("x", 0)
            if isinstance(given, Items) and given.items and call.method == "fit":
                given = given.items[0]
            other = _padding(given)
            theirs = None if other is None else number(other.argument("maxlen", 1))
            if other is None or theirs is None or theirs == length or id(other.node) in done:
                continue
            done.add(id(other.node))
            node = next((one for one in other.call_node.keywords if one.arg == "maxlen"), None)
            written = next((one for one in trained.call_node.keywords if one.arg == "maxlen"), None)
            edits = (
                [facts.spans.replace(node.value, facts.spans.text(written.value))]
                if node is not None and written is not None and other.within == trained.within
                else []
            )
            yield facts.finding(
                other,
                Fault.PREPROCESSING,
                Severity.HIGH,
                0.9,
                f"These rows are padded to {theirs:.0f}, those of the training (line {facts.source.where(trained.line).partition(':')[2]}) to {length:.0f}.",
                "Pad to one length.",
                edits,
            )


def _padding(value: Value | None) -> Call | None:
    """The padding that a value comes straight from."""
    while whole := cut_from(value):
        value = whole
    if isinstance(value, Made) and value.call.name.rpartition(".")[2] == "pad_sequences" and not value.call.spread:
        return value.call
    return None


RULE = Rule(_run)
