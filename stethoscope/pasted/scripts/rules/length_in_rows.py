"""A sequence of batches that says how many rows it has.

Why: `__len__` of a `Sequence` or `PyDataset` is the number of its batches. The number of rows asks for batches that are not there: they are
empty, and raise an error or make the loss NaN.
Example: `def __len__(self): return len(self.files)` beside `self.files[i * self.batch_size : …]`.
Fix: `return math.ceil(len(self.files) / self.batch_size)`.
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
        if "__len__" not in methods or "__getitem__" not in methods:
            continue
        if not any(ast.unparse(base).rpartition(".")[2] in ("Sequence", "PyDataset") for base in kind.bases):
            continue
        size = next(
            (
                ast.unparse(node)
                for node in ast.walk(methods["__getitem__"])
                if isinstance(node, ast.Attribute | ast.Name) and ast.unparse(node).endswith(("batch_size", "bs"))
            ),
            "",
        )
        ends = [node for node in ast.walk(methods["__len__"]) if isinstance(node, ast.Return)]
        value = ends[0].value if len(ends) == 1 else None
        if not size or not isinstance(value, ast.Call) or ast.unparse(value.func) != "len":
            continue
        yield facts.finding(
            value.lineno,
            Fault.DATA,
            Severity.HIGH,
            0.93,
            "__len__ gives the number of rows, and is asked for the number of batches: the last ones are empty.",
            "Divide by the batch size, and round up.",
            [facts.spans.replace(value, f"-(-{facts.spans.text(value)} // {size})")],
        )


RULE = Rule(_run)
