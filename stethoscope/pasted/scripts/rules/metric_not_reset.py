"""A metric that is never begun anew.

Why: a metric adds up what it is given until `reset_state`. In a loop over epochs without it each epoch shows the mean of all so far.
Example: `accuracy.update_state(y, p)` in the loop, `accuracy.result()` after each epoch, and no `accuracy.reset_state()`.
Fix: `reset_state()` at the start of each epoch.
Source: keras.io/guides/writing_a_custom_training_loop_in_tensorflow.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.names import meaning
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Made


def _run(facts: Facts) -> Iterator[Finding]:
    for made in facts.calls:
        if (
            not meaning(made.name).startswith("keras.metrics.")
            or not meaning(made.name).rpartition(".")[2][:1].isupper()
            or made.loops
        ):
            continue
        used = [call for call in facts.calls if isinstance(call.receiver, Made) and call.receiver.call is made]
        updates = [call for call in used if call.method == "update_state" and call.reached]
        results = [call for call in used if call.method == "result" and call.reached]
        if any(call.method in ("reset_state", "reset_states") for call in used) or made.within:
            continue
        for result in results:
            deeper = [
                call
                for call in updates
                if len(call.loops) > len(result.loops) >= 1 and result.loops == call.loops[: len(result.loops)]
            ]
            if deeper:
                yield facts.finding(
                    result,
                    Fault.METRIC,
                    Severity.MEDIUM,
                    0.88,
                    "The metric is never begun anew: from the second turn of this loop on it shows the mean of all turns so far.",
                    "Call reset_state() after it is read.",
                )
                break


RULE = Rule(_run)
