"""Batches of one's own that overlap.

Why: Keras asks `__getitem__` for the number of a batch. A cut that begins at that number takes nearly the same rows each time, and
the rows of the end are never read.
Example: `self.x[idx:idx + self.batch_size]`.
Fix: `self.x[idx * self.batch_size:(idx + 1) * self.batch_size]`.
Source: keras.io/api/utils/python_utils (PyDataset)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.names import meaning
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Ref

_BASES = ("keras.utils.Sequence", "keras.utils.PyDataset", "keras.utils.data_utils.Sequence")


def _run(facts: Facts) -> Iterator[Finding]:
    for found in facts.classes():
        method = found.methods.get("__getitem__")
        if method is None or not any(isinstance(base, Ref) and meaning(base.name) in _BASES for base in found.bases):
            continue
        names = [one.arg for one in method.node.args.args]
        stored = {
            one.id for one in ast.walk(method.node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
        }
        if len(names) != 2 or names[1] in stored:
            continue
        for cut in ast.walk(method.node):
            if not isinstance(cut, ast.Slice) or not _is(cut.lower, names[1]) or cut.step is not None:
                continue
            end = cut.upper
            if isinstance(end, ast.BinOp) and isinstance(end.op, ast.Add) and _is(end.left, names[1]):
                size = facts.spans.text(end.right)
                assert cut.lower is not None
                yield facts.finding(
                    cut.lineno,
                    Fault.DATA,
                    Severity.HIGH,
                    0.92,
                    f"{names[1]} is the number of the batch: batches that begin at it overlap, and the end of the data is never read.",
                    "Multiply by the size of a batch.",
                    [
                        facts.spans.replace(cut.lower, f"{names[1]} * {size}"),
                        facts.spans.replace(end, f"({names[1]} + 1) * {size}"),
                    ],
                )


def _is(node: ast.expr | None, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


RULE = Rule(_run)
