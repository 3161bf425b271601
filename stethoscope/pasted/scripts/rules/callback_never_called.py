"""A method of a callback that Keras does not know.

Why: Keras calls methods of a callback by their names. One that is spelt otherwise is never called, and nothing says so.
Example: `def on_epoch_ends(self, epoch, logs=None)` in a `keras.callbacks.Callback`.
Fix: `def on_epoch_end(self, epoch, logs=None)`.
Source: keras.io/guides/writing_your_own_callbacks.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule

_KNOWN = frozenset(
    {
        *(f"on_{what}_{when}" for what in ("train", "test", "predict", "epoch", "batch") for when in ("begin", "end")),
        *(f"on_{what}_batch_{when}" for what in ("train", "test", "predict") for when in ("begin", "end")),
    }
)


def _run(facts: Facts) -> Iterator[Finding]:
    for kind in facts.nodes(ast.ClassDef):
        if not any(ast.unparse(base).rpartition(".")[2] == "Callback" for base in kind.bases):
            continue
        for method in kind.body:
            if not isinstance(method, ast.FunctionDef) or not method.name.startswith("on_") or method.name in _KNOWN:
                continue
            near = difflib.get_close_matches(method.name, sorted(_KNOWN), 1, 0.8)
            if not near or f".{method.name}(" in facts.source.text:
                continue
            row = facts.source.text.split("\n")[method.lineno - 1]
            yield facts.finding(
                method.lineno,
                Fault.EPOCHS,
                Severity.HIGH,
                0.93,
                f"Keras has no {method.name}, and never calls it.",
                f"Call it {near[0]}.",
                [facts.spans.row(method.lineno, row.replace(f"def {method.name}", f"def {near[0]}", 1))],
            )


RULE = Rule(_run)
