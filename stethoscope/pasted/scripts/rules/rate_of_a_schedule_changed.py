"""A callback changes a learning rate that a schedule gives.

Why: an optimizer that was given a schedule takes its rate from it at each step. ReduceLROnPlateau and LearningRateScheduler set a number, which
such an optimizer refuses: TypeError.
Example: `Adam(ExponentialDecay(1e-3, 1000, 0.9))` and `callbacks=[ReduceLROnPlateau()]`.
Fix: one of the two: the schedule, or a number and the callback.
Source: keras.io/api/optimizers/learning_rate_schedules; raised by Keras 3.15 ("does not support … LearningRateSchedule").
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.names import meaning
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Items, Made, Value

_CHANGE = ("keras.callbacks.ReduceLROnPlateau", "keras.callbacks.LearningRateScheduler")


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for model in facts.models:
        optimizers = [call.argument("optimizer", 0) for call in model.compiled]
        if not optimizers or not all(_scheduled(one) for one in optimizers):
            continue
        for fit in model.calls("fit"):
            given = fit.argument("callbacks")
            for one in given.items if isinstance(given, Items) else []:
                if not isinstance(one, Made) or meaning(one.call.name) not in _CHANGE or id(one.call.node) in done:
                    continue
                done.add(id(one.call.node))
                yield facts.finding(
                    one.call,
                    Fault.LEARNING_RATE,
                    Severity.HIGH,
                    0.93,
                    f"{one.call.name.rpartition('.')[2]} sets the learning rate, and the optimizer takes it from a schedule: TypeError.",
                    "Take the schedule, or the callback with a number as the rate.",
                )


def _scheduled(value: Value | None) -> bool:
    rate = value.call.argument("learning_rate", 0) if isinstance(value, Made) else None
    return isinstance(rate, Made) and ".schedules." in rate.call.name


RULE = Rule(_run)
