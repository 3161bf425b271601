"""Weights are drawn again after they were trained.

Why: in a graph of TensorFlow 1 running the initializer gives every variable its first value. Run after the training, all that was learned is
gone.
Example: a second `sess.run(tf.global_variables_initializer())` below the training loop.
Fix: run it once, before the training.
Source: tensorflow.org/api_docs/python/tf/compat/v1/global_variables_initializer; tensorflow.org/guide/migrate.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule


def _run(facts: Facts) -> Iterator[Finding]:
    for block in facts.nodes(ast.With):
        if not any("Session(" in ast.unparse(item.context_expr) for item in block.items):
            continue
        begun = trained = False
        for statement in block.body:
            written = ast.unparse(statement)
            draws = (
                isinstance(statement, ast.Expr) and "run(" in written and "global_variables_initializer()" in written
            )
            if draws and begun and trained:
                yield facts.finding(
                    statement.lineno,
                    Fault.INITIALISATION,
                    Severity.HIGH,
                    0.93,
                    "The initializer is run again after the training: every weight gets its first value back.",
                    "Leave the line out.",
                    [facts.spans.without_rows(statement.lineno, statement.end_lineno or statement.lineno)],
                )
            begun = begun or draws
            trained = trained or (begun and isinstance(statement, ast.For | ast.While) and ".run(" in written)


RULE = Rule(_run)
