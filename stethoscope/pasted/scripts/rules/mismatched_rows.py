"""Rows of one part with the labels of another.

Why: the labels of the test part do not belong to the rows of the training part. Where the counts differ Keras raises an error; where
they are equal the score is chance.
Example: `model.evaluate(x_test, y_train)`; `model.fit(x_train, y_test)`; `validation_data=(x_val, y_train)`.
Fix: the labels that belong to the rows.
Source: Humbatova et al. (ICSE 2020): wrong selection of labels; stackoverflow.com/questions/49970606 ("data cardinality is ambiguous").
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.splits import part_of_split
from stethoscope.pasted.scripts.values import Items, Value

_PARTS = ("training", "test")


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for model in facts.models:
        for call in model.calls("fit", "evaluate"):
            if id(call.node) in done:
                continue
            done.add(id(call.node))
            pairs: list[tuple[Value | None, Value | None]] = [(call.argument("x", 0), call.argument("y", 1))]
            validation = call.argument("validation_data")
            if isinstance(validation, Items) and len(validation.items) >= 2:
                pairs.append((validation.items[0], validation.items[1]))
            for rows, labels in pairs:
                first, second = part_of_split(rows), part_of_split(labels)
                if first is None or second is None or first.split is not second.split or first.part == second.part:
                    continue
                yield facts.finding(
                    _line(call.call_node, rows is not pairs[0][0]),
                    Fault.LABELS,
                    Severity.HIGH,
                    0.92,
                    f"The rows are of the {_PARTS[first.part]} part, and the labels of the {_PARTS[second.part]} part: they do not belong to each other.",
                    f"Give the labels of the {_PARTS[first.part]} part.",
                )


def _line(node: ast.Call, of_validation: bool) -> int:
    keyword = next((one for one in node.keywords if one.arg == "validation_data"), None)
    return keyword.lineno if of_validation and keyword is not None else node.lineno


RULE = Rule(_run, same_as=frozenset({"conflicting-labels"}))
