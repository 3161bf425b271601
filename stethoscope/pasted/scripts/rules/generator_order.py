"""Generators whose order is not what is read from them.

Why: a generator of pictures is shuffled unless told otherwise; `generator.classes` stands in the order of the files, so beside what
`predict(generator)` gives, rows and labels do not belong together. Class numbers follow the list given as `classes`: two lists in two orders
exchange the classes.
Example: `flow_from_directory(test)` and `confusion_matrix(test.classes, model.predict(test).argmax(1))`.
Fix: `shuffle=False`; one list of classes.
Source: keras.io/api/data_loading/image; github.com/keras-team/keras/issues/4225
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.checks.fixes.script_patch import Edit
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Attribute, Call, Made, Value, ancestors, is_const, plain

_FLOWS = ("flow_from_directory", "flow_from_dataframe")


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for model in facts.models:
        trained = next((flow for fit in model.calls("fit") if (flow := _flow(fit.argument("x", 0)))), None)
        for call in model.calls("fit", "evaluate", "predict"):
            other = _flow(call.argument("validation_data") if call.method == "fit" else call.argument("x", 0))
            if other is None or id(other.node) in done:
                continue
            if trained is not None and _exchanged(trained, other):
                done.add(id(other.node))
                yield facts.finding(
                    other,
                    Fault.LABELS,
                    Severity.HIGH,
                    0.95,
                    f"The classes stand in another order than for the training (line {facts.source.where(trained.line).partition(':')[2]}): their numbers are exchanged.",
                    "Give both the same list.",
                    _same_classes(facts, trained, other),
                )
            shuffle = other.argument("shuffle")
            if call.method == "predict" and (shuffle is None or is_const(shuffle, True)) and _read(facts, other):
                done.add(id(other.node))
                node = next((one for one in other.call_node.keywords if one.arg == "shuffle"), None)
                yield facts.finding(
                    other,
                    Fault.LABELS,
                    Severity.HIGH,
                    0.93,
                    "This generator is shuffled, and its classes are read in the order of the files beside what the model predicts: they do not belong together.",
                    "Say shuffle=False.",
                    [facts.spans.add_argument(other.call_node, "shuffle=False")]
                    if node is None
                    else [facts.spans.replace(node.value, "False")],
                )


def _flow(value: Value | None) -> Call | None:
    if isinstance(value, Made) and value.call.method in _FLOWS and not value.call.spread:
        return value.call
    return None


def _exchanged(one: Call, other: Call) -> bool:
    first, second = plain(one.argument("classes")), plain(other.argument("classes"))
    return (
        isinstance(first, list)
        and isinstance(second, list)
        and first != second
        and sorted(map(str, first)) == sorted(map(str, second))
    )


def _same_classes(facts: Facts, one: Call, other: Call) -> list[Edit]:
    nodes = [next((k.value for k in call.call_node.keywords if k.arg == "classes"), None) for call in (one, other)]
    if nodes[0] is None or nodes[1] is None:
        return []
    return [facts.spans.replace(nodes[1], facts.spans.text(nodes[0]))]


def _read(facts: Facts, flow: Call) -> bool:
    """Whether `classes` or `labels` of it go into a call, beside what was predicted of it."""
    for call in facts.calls:
        values = [one for given in (*call.args, *call.keywords.values()) for one in ancestors(given)]
        own = any(
            isinstance(one, Attribute) and one.name in ("classes", "labels") and _flow(one.of) is flow for one in values
        )
        if own and any(
            isinstance(one, Made) and one.call.method == "predict" and _flow(one.call.argument("x", 0)) is flow
            for one in values
        ):
            return True
    return False


RULE = Rule(_run)
