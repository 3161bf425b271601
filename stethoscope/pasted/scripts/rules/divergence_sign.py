"""The divergence of a variational autoencoder with the wrong sign.

Why: the Kullback-Leibler divergence to a standard normal is −½ Σ (1 + log σ² − μ² − σ²). Added without the minus it is made as large as
possible, and the loss runs to minus infinity.
Example: `kl = 0.5 * tf.reduce_mean(1 + z_log_var - tf.square(z_mean) - tf.exp(z_log_var))` and `loss = reconstruction + kl`.
Fix: −0.5.
Source: Kingma & Welling, "Auto-Encoding Variational Bayes" (ICLR 2014), appendix B; keras.io/examples/generative/vae.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule

_TERM = re.compile(r"^1(?:\.0?)? \+ .*(?:- .*square\(|- .*\*\* ?2).*- .*exp\(")


def _run(facts: Facts) -> Iterator[Finding]:
    if "exp(" not in facts.source.text:
        return
    statements = [
        one for one in ast.walk(facts.parsed.tree) if isinstance(one, ast.Assign | ast.AugAssign | ast.Return)
    ]
    for one in statements:
        if not isinstance(one, ast.Assign) or not isinstance(one.targets[0], ast.Name):
            continue
        terms = [
            node for node in ast.walk(one.value) if isinstance(node, ast.BinOp) and _TERM.search(ast.unparse(node))
        ]
        if not terms or _negated(one.value, terms[0]):
            continue
        name = one.targets[0].id
        used = [
            other
            for other in statements
            if other is not one and other.value is not None and _uses(other, name) and other.lineno >= one.lineno
        ]
        added = any(isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) for o in used for node in ast.walk(o))
        if used and added and not any(_turns(other) for other in used):
            yield facts.finding(
                one.lineno,
                Fault.LOSS,
                Severity.HIGH,
                0.88,
                f"{name} is the divergence without its minus, and is added to the loss: training makes it as large as it can.",
                "Multiply by -0.5.",
            )


def _uses(node: ast.AST, name: str) -> bool:
    return any(isinstance(one, ast.Name) and one.id == name for one in ast.walk(node))


def _turns(node: ast.AST) -> bool:
    return any(isinstance(one, ast.USub | ast.Sub) for one in ast.walk(node))


def _negated(value: ast.expr, term: ast.AST) -> bool:
    """Whether there is a minus around the term, or it is subtracted."""
    inside = set(map(id, ast.walk(term)))
    return any(
        isinstance(one, ast.UnaryOp | ast.BinOp) and _turns_at(one) for one in ast.walk(value) if id(one) not in inside
    )


def _turns_at(node: ast.UnaryOp | ast.BinOp) -> bool:
    return isinstance(node.op, ast.USub | ast.Sub)


RULE = Rule(_run)
