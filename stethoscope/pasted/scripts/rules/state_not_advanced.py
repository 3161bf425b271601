"""The agent acts on the first state for ever.

Why: what `step` gives is the next state. Where the loop does not make it the state, each action is chosen for the state that `reset` gave.
Example: `next_state, reward, done, info = env.step(action)` in a loop that never says `state = next_state`.
Fix: `state = next_state` at the end of each turn.
Source: gymnasium.farama.org/introduction/basic_usage; Sutton & Barto, "Reinforcement learning", 6.4.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.checks.fixes.script_patch import Edit
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule


def _run(facts: Facts) -> Iterator[Finding]:
    begun = _reset_names(facts)
    loops: list[ast.While | ast.For] = [*facts.nodes(ast.While), *facts.nodes(ast.For)]
    for loop in loops:
        step = next((one for one in loop.body if _next_state(one)), None)
        following = _next_state(step) if step is not None else ""
        if step is None or not following:
            continue
        inside = [node for statement in loop.body for node in ast.walk(statement)]
        stored = {one.id for one in inside if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
        read = {one.id for one in inside if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}
        still = sorted(begun & read - stored)
        if following in begun or len(still) != 1 or any(isinstance(one, ast.Global | ast.Nonlocal) for one in inside):
            continue
        yield facts.finding(
            step.lineno,
            Fault.DATA,
            Severity.HIGH,
            0.88,
            f"{following} is what the environment gives, and {still[0]} stays what reset gave: each action is chosen for the first state.",
            f"Say {still[0]} = {following} at the end of each turn.",
            _edits(facts, loop, f"{still[0]} = {following}"),
        )


def _reset_names(facts: Facts) -> set[str]:
    """Names of what `env.reset()` gives."""
    found: set[str] = set()
    for node in facts.nodes(ast.Assign):
        if ".reset()" in ast.unparse(node.value):
            for target in node.targets:
                first = target.elts[0] if isinstance(target, ast.Tuple) and target.elts else target
                found |= {first.id} if isinstance(first, ast.Name) else set()
    return found


def _next_state(statement: ast.stmt | None) -> str:
    """The first name of `next_state, reward, … = env.step(action)`."""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Tuple):
        return ""
    called = statement.value.func if isinstance(statement.value, ast.Call) else None
    first = statement.targets[0].elts[0]
    takes = isinstance(called, ast.Attribute) and called.attr == "step" and len(statement.targets[0].elts) in (4, 5)
    return first.id if takes and isinstance(first, ast.Name) and first.id != "_" else ""


def _edits(facts: Facts, loop: ast.While | ast.For, text: str) -> list[Edit]:
    last = loop.body[-1]
    if isinstance(last, ast.If | ast.For | ast.While | ast.With | ast.Try):
        return []
    end = facts.spans.replace(last, "")
    return [Edit(end.part, end.end, end.end, f"\n{' ' * last.col_offset}{text}")]


RULE = Rule(_run)
