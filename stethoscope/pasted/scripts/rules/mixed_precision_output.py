"""An output in half precision.

Why: with the policy mixed_float16 a softmax or sigmoid at the end is computed in half precision: probabilities round to 0 and 1, and the
loss to NaN or infinity. The last activation belongs in float32.
Example: `keras.mixed_precision.set_global_policy("mixed_float16")` and `Dense(10, activation="softmax")` as the last layer.
Fix: `dtype="float32"` for the last layer.
Source: tensorflow.org/guide/mixed_precision ("the output of the model should be float32").
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.models_built import layer_name
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Call, text

_POLICIES = (
    "keras.mixed_precision.set_global_policy",
    "keras.config.set_dtype_policy",
    "keras.mixed_precision.set_dtype_policy",
)


def _run(facts: Facts) -> Iterator[Finding]:
    policies = [call for call in facts.named(*_POLICIES) if _half(call)]
    if not policies:
        return
    done: set[int] = set()
    for model in facts.models:
        head = model.head
        if (
            head is None
            or not model.calls("fit", "compile")
            or id(head.by.node) in done
            or model.call.order < policies[0].order
        ):
            continue
        done.add(id(head.by.node))
        if "dtype" not in head.by.keywords and not head.by.spread and layer_name(head.by).startswith("keras.layers."):
            yield facts.finding(
                head.by,
                Fault.NUMERICAL,
                Severity.MEDIUM,
                0.9,
                f"The policy mixed_float16 (line {facts.source.where(policies[0].line).rpartition(':')[2]}) holds for the last layer too: its output, and the loss of it, are computed in half precision.",
                'Give the last layer dtype="float32".',
                [facts.spans.add_argument(head.by.call_node, 'dtype="float32"')],
            )


def _half(call: Call) -> bool:
    return any(text(value) == "mixed_float16" for value in (*call.args, *call.keywords.values()))


RULE = Rule(_run)
