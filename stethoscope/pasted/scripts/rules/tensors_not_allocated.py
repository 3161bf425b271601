"""An interpreter that is used before it has its memory.

Why: a TFLite interpreter has no tensors until `allocate_tensors()`: setting an input, or `invoke()`, raises an error.
Example: `interpreter = tf.lite.Interpreter("model.tflite")` and `interpreter.set_tensor(…)`.
Fix: `interpreter.allocate_tensors()` in front of it.
Source: ai.google.dev/edge/litert/inference; raised by TensorFlow 2.21 ("Cannot set tensor … not allocated").
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.checks.fixes.script_patch import Edit
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Call, Made

_USES = ("set_tensor", "invoke", "get_tensor")


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for call in facts.calls:
        if not call.name.endswith("lite.Interpreter") or id(call.node) in done:
            continue
        done.add(id(call.node))
        used = [one for one in facts.calls if isinstance(one.receiver, Made) and one.receiver.call.node is call.node]
        if not any(one.method in _USES for one in used) or any(
            one.method in ("allocate_tensors", "get_signature_runner") for one in used
        ):
            continue
        yield facts.finding(
            call,
            Fault.DEPLOYMENT,
            Severity.HIGH,
            0.93,
            "The interpreter is used, and nothing has allocated its tensors: setting an input raises ValueError.",
            "Call allocate_tensors() first.",
            _edits(facts, call),
        )


def _edits(facts: Facts, call: Call) -> list[Edit]:
    for node in facts.nodes(ast.Assign):
        if node.value is call.node and isinstance(node.targets[0], ast.Name):
            end = facts.spans.replace(node, "")
            return [
                Edit(end.part, end.end, end.end, f"\n{' ' * node.col_offset}{node.targets[0].id}.allocate_tensors()")
            ]
    return []


RULE = Rule(_run)
