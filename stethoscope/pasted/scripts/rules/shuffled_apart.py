"""Rows and labels shuffled one without the other.

Why: two shuffles draw two orders. After them the labels belong to other rows, and nothing can be learned but the mean.
Example: `np.random.shuffle(x)` and then `np.random.shuffle(y)`.
Fix: one permutation for both.
Source: stackoverflow.com/questions/4601373; Humbatova et al. (ICSE 2020): wrong selection of features and labels.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Call

_SHUFFLES = frozenset({"numpy.random.shuffle", "random.shuffle"})
_SEEDS = frozenset({"numpy.random.seed", "random.seed", "numpy.random.set_state"})


def _run(facts: Facts) -> Iterator[Finding]:
    before: Call | None = None
    done: set[int] = set()
    for call in facts.calls:
        if call.name in _SEEDS:
            before = None
        if call.name not in _SHUFFLES or id(call.node) in done:
            continue
        done.add(id(call.node))
        if (
            before is not None
            and before.within == call.within
            and before.loops == call.loops
            and call.line - before.line <= 3
        ):
            first, second = (_written(facts, one) for one in (before, call))
            if first != second and _belong(first, second):
                yield facts.finding(
                    call,
                    Fault.LABELS,
                    Severity.CRITICAL,
                    0.93,
                    f"{first} and {second} are shuffled one after the other, each into an order of its own: rows and labels do not belong together any more.",
                    "Draw one permutation, and index both with it.",
                    (),
                    f"order = np.random.permutation(len({first}))\n{first} = {first}[order]\n{second} = {second}[order]",
                )
        before = call


def _written(facts: Facts, call: Call) -> str:
    return facts.spans.text(call.call_node.args[0]) if call.call_node.args else ""


def _belong(first: str, second: str) -> bool:
    """Whether two names say that one holds rows, and the other their labels."""
    marks = ("y", "label", "target", "class", "output")
    names = [one.lower().strip("_") for one in (first, second)]
    labels = [name.startswith(("y", "label", "target")) or any(mark in name for mark in marks[1:]) for name in names]
    return labels[0] != labels[1]


RULE = Rule(_run, same_as=frozenset({"conflicting-labels"}))
