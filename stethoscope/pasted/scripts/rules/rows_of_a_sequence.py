"""Rows are shuffled in a sequence of batches, and their labels are not.

Why: `on_epoch_end` of a `Sequence` that shuffles one of two lists leaves the other as it was: from the second epoch on rows have the labels of
others.
Example: `np.random.shuffle(self.files)` in `on_epoch_end`, beside `self.labels[i]` in `__getitem__`.
Fix: shuffle one list of indices, and read both through it.
Source: keras.io/api/utils/python_utils (PyDataset); stackoverflow.com/questions/55531427.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule


def _run(facts: Facts) -> Iterator[Finding]:
    for kind in facts.nodes(ast.ClassDef):
        methods = {one.name: one for one in kind.body if isinstance(one, ast.FunctionDef)}
        if "__getitem__" not in methods or "on_epoch_end" not in methods:
            continue
        cut = {
            ast.unparse(one.value)
            for one in ast.walk(methods["__getitem__"])
            if isinstance(one, ast.Subscript) and ast.unparse(one.value).startswith("self.")
        }
        shuffles = [
            one
            for one in ast.walk(methods["on_epoch_end"])
            if isinstance(one, ast.Call) and ast.unparse(one.func).endswith("random.shuffle") and one.args
        ]
        if len(shuffles) != 1 or len(cut) != 2 or ast.unparse(shuffles[0].args[0]) not in cut:
            continue
        own = ast.unparse(shuffles[0].args[0])
        other = next(name for name in cut if name != own)
        yield facts.finding(
            shuffles[0].lineno,
            Fault.LABELS,
            Severity.HIGH,
            0.92,
            f"{own[:60]} is shuffled after each epoch, and {other[:60]} is not: rows get the labels of others.",
            "Shuffle one list of indices, and read both through it.",
        )


RULE = Rule(_run)
