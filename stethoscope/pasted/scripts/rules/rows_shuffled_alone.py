"""Rows are shuffled, and their labels are not.

Why: each row then has the label of another one. The network learns the shares of the classes at best.
Example: `x_train = shuffle(x_train)` and `model.fit(x_train, y_train)`.
Fix: shuffle both together, or leave it to `fit`, which does so each epoch.
Source: scikit-learn.org/stable/modules/generated/sklearn.utils.shuffle.html (arrays in a consistent way)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.labels import fed
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Call, Value, calls_behind

_ONE_ARRAY = ("sklearn.utils.shuffle", "sklearn.utils.resample", "numpy.random.permutation")


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for model in facts.models:
        for call in model.calls("fit"):
            given = fed(call)
            if given.x is None or given.y is None:
                continue
            x, y = (_alone(value) for value in (given.x, given.y))
            for made in {**x, **y}.values():
                if (
                    (id(made.node) in x) != (id(made.node) in y)
                    and id(made.node) not in done
                    and call.order > made.order
                ):
                    done.add(id(made.node))
                    what, other = ("rows", "labels") if id(made.node) in x else ("labels", "rows")
                    yield facts.finding(
                        made,
                        Fault.LABELS,
                        Severity.CRITICAL,
                        0.9,
                        f"The {what} are shuffled and the {other} are not: they do not belong together any more.",
                        "Shuffle both together.",
                        (),
                        "x_train, y_train = shuffle(x_train, y_train)",
                    )


def _alone(value: Value) -> dict[int, Call]:
    return {
        id(call.node): call
        for call in calls_behind(value)
        if call.name in _ONE_ARRAY and len(call.args) == 1 and not call.spread and _holds_rows(call)
    }


def _holds_rows(call: Call) -> bool:
    """Whether what is shuffled are rows, and not the numbers of rows."""
    numbers = ("len", "range", "numpy.arange", "shape")
    return not any(one.name in numbers or one.method in numbers for one in calls_behind(call.args[0])) and (
        call.name != "numpy.random.permutation" or not call.call_node.args or "len(" not in _written(call)
    )


def _written(call: Call) -> str:
    return ast.unparse(call.call_node.args[0])


RULE = Rule(_run, same_as=frozenset({"conflicting-labels"}))
