"""Returns are added up from the wrong end.

Why: the return of a step is its reward and what comes after it, discounted. Added up from the first step on, each step gets what came
before it: the past is rewarded.
Example: `for r in rewards: g = r + gamma * g; returns.append(g)`.
Fix: `for r in reversed(rewards)`, and turn the list round.
Source: Sutton & Barto, "Reinforcement learning", 3.3 and 13.3.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule

_DISCOUNT = re.compile(r"gamma|discount", re.IGNORECASE)
_REWARDS = re.compile(r"reward", re.IGNORECASE)


def _run(facts: Facts) -> Iterator[Finding]:
    for loop in facts.nodes(ast.For):
        over = ast.unparse(loop.iter)
        if not _REWARDS.search(over) or "reversed" in over or "::-1" in over or "range" in over:
            continue
        turn = {one.id for one in ast.walk(loop.target) if isinstance(one, ast.Name)}
        if any(_adds_up(statement, turn) for statement in loop.body) and _turned_before(facts, loop) is False:
            yield facts.finding(
                loop.lineno,
                Fault.LABELS,
                Severity.HIGH,
                0.88,
                "Rewards are added up from the first one on: each step gets what came before it, not what follows.",
                "Go through them from the last one on, and turn the result round.",
            )


def _adds_up(statement: ast.stmt, turn: set[str]) -> bool:
    """Whether it is `g = r + gamma * g`."""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
        return False
    value = statement.value
    names = {one.id for one in ast.walk(value) if isinstance(one, ast.Name)}
    return (
        isinstance(value, ast.BinOp)
        and isinstance(value.op, ast.Add)
        and statement.targets[0].id in names
        and bool(turn & names)
        and _DISCOUNT.search(ast.unparse(value)) is not None
    )


def _turned_before(facts: Facts, loop: ast.For) -> bool:
    """Whether what is gone through was turned round above."""
    names = {one.id for one in ast.walk(loop.iter) if isinstance(one, ast.Name)}
    text = "\n".join(facts.source.text.split("\n")[: loop.lineno])
    return any(
        re.search(rf"\b{re.escape(name)}\b.*(?:reverse|::-1|flip)|(?:reverse|flip).*\b{re.escape(name)}\b", text)
        is not None
        for name in names
    )


RULE = Rule(_run)
