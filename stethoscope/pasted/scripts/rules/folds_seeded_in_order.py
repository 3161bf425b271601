"""Folds with a seed and no shuffling.

Why: `KFold` and `StratifiedKFold` take rows in their order unless `shuffle=True`; a `random_state` without it raises ValueError.
Example: `StratifiedKFold(n_splits=10, random_state=7)`.
Fix: `StratifiedKFold(n_splits=10, random_state=7, shuffle=True)`.
Source: scikit-learn.org/stable/modules/generated/sklearn.model_selection.KFold; raised by scikit-learn since 0.24
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Const


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for call in facts.calls:
        if call.name not in ("sklearn.model_selection.KFold", "sklearn.model_selection.StratifiedKFold"):
            continue
        seed, shuffle = call.argument("random_state"), call.argument("shuffle", 1)
        if id(call.node) in done or call.spread or not isinstance(seed, Const) or seed.value is None:
            continue
        if shuffle is not None and not (isinstance(shuffle, Const) and shuffle.value is False):
            continue
        done.add(id(call.node))
        yield facts.finding(
            call,
            Fault.VALIDATION,
            Severity.HIGH,
            0.97,
            "A random_state without shuffle=True has no effect, and scikit-learn raises ValueError.",
            "Say shuffle=True.",
            [facts.spans.add_argument(call.call_node, "shuffle=True")] if shuffle is None else [],
        )


RULE = Rule(_run)
