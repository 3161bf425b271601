"""A score that should rise is made as small as possible.

Why: `fit` makes the loss smaller. A coefficient of overlap or a share of hits is better when larger: as the loss, without `1 -` or a minus,
the model learns to be wrong.
Example: `def dice_loss(y, p): return dice_coef(y, p)`; `loss=dice_coef`.
Fix: `1 - dice_coef(y, p)`.
Source: Humbatova et al. (ICSE 2020): wrong loss function calculation; stackoverflow.com/questions/49785133.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Function

_SCORE = re.compile(r"(?:coef|iou|jaccard|f1|accuracy|psnr|ssim|r2|score)", re.IGNORECASE)
_OVERLAP = re.compile(r"dice|iou|jaccard|tversky|overlap", re.IGNORECASE)
_LOSS = re.compile(r"(?:loss|error|distance|neg|minus|cost|inv)", re.IGNORECASE)


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for model in facts.models:
        for call in model.compiled:
            loss = call.argument("loss", 1)
            if not isinstance(loss, Function) or isinstance(loss.node, ast.Lambda) or id(loss.node) in done:
                continue
            done.add(id(loss.node))
            if _is_score(loss.name):
                if not _turned(loss.node):
                    yield _finding(facts, call.line, loss.name)
                continue
            if _OVERLAP.search(loss.name) and not _turned(loss.node) and _is_share(loss.node):
                yield _finding(facts, _end(loss.node), loss.name)
                continue
            ends = [one for one in ast.walk(loss.node) if isinstance(one, ast.Return)]
            value = ends[0].value if len(ends) == 1 else None
            if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and _is_score(value.func.id):
                inner = loss.scope.find(value.func.id)
                if isinstance(inner, Function) and not _turned(inner.node):
                    yield _finding(facts, ends[0].lineno, value.func.id)


def _is_share(node: ast.AST) -> bool:
    """Whether it returns one thing divided by another."""
    ends = [one.value for one in ast.walk(node) if isinstance(one, ast.Return)]
    last = ends[0] if len(ends) == 1 else None
    if isinstance(last, ast.Call) and last.args and ast.unparse(last.func).endswith("mean"):
        last = last.args[0]
    if isinstance(last, ast.Name):
        made = [
            one.value
            for one in ast.walk(node)
            if isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) == last.id
        ]
        last = made[-1] if made else None
    return isinstance(last, ast.BinOp) and isinstance(last.op, ast.Div)


def _end(node: ast.AST) -> int:
    return next(one.lineno for one in ast.walk(node) if isinstance(one, ast.Return))


def _is_score(name: str) -> bool:
    return _SCORE.search(name) is not None and _LOSS.search(name) is None


def _turned(node: ast.AST) -> bool:
    """Whether something within is subtracted from a number, or negated: then it may be a loss."""
    return any(
        (isinstance(one, ast.UnaryOp) and isinstance(one.op, ast.USub) and not isinstance(one.operand, ast.Constant))
        or (isinstance(one, ast.BinOp) and isinstance(one.op, ast.Sub) and isinstance(one.left, ast.Constant))
        for one in ast.walk(node)
    )


def _finding(facts: Facts, line: int, name: str) -> Finding:
    return facts.finding(
        line,
        Fault.LOSS,
        Severity.HIGH,
        0.88,
        f"{name[:60]} is better when larger, and as the loss it is made small.",
        "Give the loss 1 minus the score.",
    )


RULE = Rule(_run)
