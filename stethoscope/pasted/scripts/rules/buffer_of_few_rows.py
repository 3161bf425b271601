"""Rows are shuffled within a few of them.

Why: `shuffle` draws from a buffer. A buffer of one row shuffles nothing; one far smaller than the data leaves rows that stand in the order of
their classes nearly so.
Example: `Dataset.from_tensor_slices((x, y)).shuffle(1)`; `shuffle(50)` over 50,000 pictures.
Fix: a buffer as large as the data, where it fits: `shuffle(len(x))`.
Source: tensorflow.org/api_docs/python/tf/data/Dataset (shuffle: "buffer size greater than or equal to the full size of the dataset").
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.labels import of_pipeline
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Call, calls_behind, number

_LARGE = ("mnist", "fashion_mnist", "cifar10", "cifar100")
"""Of 50,000 rows or more."""
_FEW = 500


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for call in facts.methods("shuffle"):
        size = number(call.argument("buffer_size", 0))
        if size is None or size > _FEW or id(call.node) in done or call.name:
            continue
        steps = [] if call.receiver is None else list(calls_behind(call.receiver))
        if not any(one.name.startswith("tensorflow.data.") for one in steps):
            continue
        done.add(id(call.node))
        if size <= 1:
            yield facts.finding(
                call,
                Fault.DATA,
                Severity.MEDIUM,
                0.93,
                f"A buffer of {size:g} row shuffles nothing: the rows come in their own order in each epoch.",
                "Take a buffer as large as the data, or some thousand rows.",
            )
        elif _is_large(steps) and of_pipeline(call.receiver).x is not None:
            yield facts.finding(
                call,
                Fault.DATA,
                Severity.LOW,
                0.85,
                f"The buffer holds {size:g} of 50,000 rows or more: rows that stand near each other stay near each other.",
                "Take a buffer as large as the data.",
            )


def _is_large(steps: list[Call]) -> bool:
    return any(one.method == "load_data" and one.name.split(".")[-2] in _LARGE for one in steps) and not any(
        one.method in ("batch", "take") for one in steps
    )


RULE = Rule(_run)
