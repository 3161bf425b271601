"""A policy is trained to avoid what was good.

Why: an optimizer makes the loss smaller. The logarithm of an action's probability times its return should grow: without a minus, actions
that paid become rarer.
Example: `loss = tf.reduce_mean(tf.math.log(picked) * advantages)`.
Fix: `loss = -tf.reduce_mean(tf.math.log(picked) * advantages)`.
Source: Williams, "REINFORCE" (1992); Sutton & Barto, "Reinforcement learning", 13.3; spinningup.openai.com (policy gradients).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule

_LOGARITHM = re.compile(r"\blog\(|log_?p|log_?prob|logprob", re.IGNORECASE)
_GAIN = re.compile(
    r"^(?:\w*adv\w*|\w*returns?\w*|\w*rewards?\w*|g|gt|g_t|g_?batch|discounted\w*|delta|td_?error)$", re.IGNORECASE
)
_MEANS = ("reduce_mean", "reduce_sum", "mean", "sum")


def _run(facts: Facts) -> Iterator[Finding]:
    negated = {
        ast.unparse(node.operand)
        for node in facts.nodes(ast.UnaryOp)
        if isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Name)
    }
    signed = _signed_names(facts)
    ends: list[ast.Assign | ast.Return] = [*facts.nodes(ast.Assign), *facts.nodes(ast.Return)]
    for node in ends:
        value = node.value
        named = isinstance(node, ast.Return) or any("loss" in ast.unparse(one).lower() for one in node.targets)
        if value is None or not named or not _is_gain(value, signed):
            continue
        if isinstance(node, ast.Return) and not _of_loss(facts, node):
            continue
        if isinstance(node, ast.Assign) and any(ast.unparse(one) in negated for one in node.targets):
            continue
        yield facts.finding(
            node.lineno,
            Fault.LOSS,
            Severity.HIGH,
            0.88,
            "The logarithm of the probability times the return is made small: actions that paid become rarer.",
            "Put a minus in front of it.",
            [facts.spans.replace(value, f"-{facts.spans.text(value)}")],
        )


def _is_gain(value: ast.expr, signed: set[str]) -> bool:
    """Whether it is the mean or sum of `log(p) * advantage`, with no minus in it."""
    if not isinstance(value, ast.Call) or ast.unparse(value.func).rpartition(".")[2] not in _MEANS or not value.args:
        return False
    product = value.args[0]
    if not isinstance(product, ast.BinOp) or not isinstance(product.op, ast.Mult):
        return False
    if any(isinstance(one, ast.UnaryOp | ast.Sub) for one in ast.walk(product)):
        return False
    if any(isinstance(one, ast.Name) and one.id in signed for one in ast.walk(product)):
        return False
    sides = ast.unparse(product.left), ast.unparse(product.right)
    return any(_LOGARITHM.search(one) and _GAIN.match(_bare(other)) for one, other in (sides, sides[::-1]))


def _bare(written: str) -> str:
    """`advantages` of `tf.cast(advantages, tf.float32)` and of `advantages[:, None]`."""
    inner = re.fullmatch(r"[\w.]*(?:stop_gradient|cast|constant|convert_to_tensor|array)\((\w+).*\)", written)
    return inner.group(1) if inner else re.sub(r"\[.*\]$", "", written)


def _signed_names(facts: Facts) -> set[str]:
    """Names that stand for something negated, or a cross-entropy, which is negative already."""
    found = set()
    for node in facts.nodes(ast.Assign):
        turned = any(
            isinstance(one, ast.UnaryOp) and isinstance(one.op, ast.USub) and not isinstance(one.operand, ast.Constant)
            for one in ast.walk(node.value)
        ) or "entropy" in ast.unparse(node.value)
        if turned:
            found |= {one.id for target in node.targets for one in ast.walk(target) if isinstance(one, ast.Name)}
    return found


def _of_loss(facts: Facts, end: ast.Return) -> bool:
    return any("loss" in one.name.lower() and end in ast.walk(one) for one in facts.nodes(ast.FunctionDef))


RULE = Rule(_run)
