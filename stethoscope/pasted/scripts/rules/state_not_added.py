"""A metric of one's own that keeps its last batch only.

Why: `update_state` is called for each batch, and `result` is asked for the whole epoch. `assign` forgets the batches before; `assign_add`
adds to them.
Example: `self.hits.assign(tf.reduce_sum(hits))` in `update_state`.
Fix: `self.hits.assign_add(tf.reduce_sum(hits))`.
Source: keras.io/api/metrics/base_metric ("update_state").
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule

_SUMS = ("sum", "reduce_sum", "size", "count_nonzero")


def _run(facts: Facts) -> Iterator[Finding]:
    for kind in facts.nodes(ast.ClassDef):
        if not any(ast.unparse(base).rpartition(".")[2] == "Metric" for base in kind.bases):
            continue
        for method in kind.body:
            if not isinstance(method, ast.FunctionDef) or method.name != "update_state":
                continue
            for call in ast.walk(method):
                if (
                    not isinstance(call, ast.Call)
                    or not isinstance(call.func, ast.Attribute)
                    or call.func.attr != "assign"
                ):
                    continue
                owner = ast.unparse(call.func.value)
                value = call.args[0] if len(call.args) == 1 else None
                summed = isinstance(value, ast.Call) and ast.unparse(value.func).rpartition(".")[2] in _SUMS
                if value is None or not summed or owner in ast.unparse(value):
                    continue
                yield facts.finding(
                    call.lineno,
                    Fault.METRIC,
                    Severity.HIGH,
                    0.9,
                    f"{owner} is set anew for each batch: the result is that of the last batch, not of the epoch.",
                    "Add to it: assign_add.",
                    [facts.spans.rename_last(call.func, "assign_add")],
                )


RULE = Rule(_run)
