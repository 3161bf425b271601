"""Rows are copied or made up before the split.

Why: oversampling copies rare rows, or puts new ones between two of them. Done before the split, copies and neighbours of a row lie on
both sides: the test rows have been trained on, and the score is far too good.
Example: `x, y = SMOTE().fit_resample(x, y)`, and `train_test_split(x, y)` after it.
Fix: split first, and resample the training rows only; the test rows keep the shares that the world has.
Source: imbalanced-learn.org/stable/common_pitfalls.html (data leakage)
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Call, calls_behind

_RESAMPLE = frozenset({"fit_resample", "fit_sample"})


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for call in facts.calls:
        split = call.name.endswith("train_test_split")
        cut = call.method == "fit" and "validation_split" in call.keywords
        if not (split or cut):
            continue
        given = call.args if split else tuple(one for one in (call.argument("x", 0),) if one is not None)
        for value in given:
            for made in _resampled(value):
                if id(made.node) in done or _of_training(made):
                    continue
                done.add(id(made.node))
                line = facts.source.where(call.line).rpartition(":")[2]
                yield facts.finding(
                    made,
                    Fault.VALIDATION,
                    Severity.HIGH,
                    0.9 if split else 0.8,
                    f"Rows are resampled before line {line} holds some back: copies and neighbours of the held-out rows are trained on.",
                    "Split first, and resample the training rows only.",
                    (),
                    "x_train, x_test, y_train, y_test = train_test_split(x, y, stratify=y)\nx_train, y_train = sampler.fit_resample(x_train, y_train)",
                )


def _resampled(value: object) -> Iterator[Call]:
    return (call for call in calls_behind(value) if call.method in _RESAMPLE)  # type: ignore[arg-type]


def _of_training(resampled: Call) -> bool:
    """Whether what is resampled is a training part already: then the test rows are safe."""
    return any(call.name.endswith("train_test_split") for value in resampled.args for call in calls_behind(value))


RULE = Rule(_run)
