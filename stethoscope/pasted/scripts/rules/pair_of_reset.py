"""An environment of Gymnasium read as one of Gym was.

Why: `reset()` gives a pair, (state, info), and `step()` gives five: state, reward, terminated, truncated, info. A pair taken for the state
fails in the first network that reads it; four names for five values raise ValueError.
Example: `state = env.reset()`; `state, reward, done, info = env.step(action)`.
Fix: `state, info = env.reset()`; `state, reward, terminated, truncated, info = env.step(action)`, `done = terminated or truncated`.
Source: gymnasium.farama.org/introduction/migration_guide; raised by Gymnasium 0.26 and later.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule


def _run(facts: Facts) -> Iterator[Finding]:
    of_pairs = facts.imports("gymnasium") or any(
        len(targets) == 5 for node in facts.nodes(ast.Assign) if (targets := _targets(node)) and _calls(node, "step")
    )
    if not of_pairs:
        return
    environments = {
        ast.unparse(target)
        for node in facts.nodes(ast.Assign)
        if isinstance(node.value, ast.Call) and ast.unparse(node.value.func).endswith("gym.make")
        for target in node.targets
    }
    for node in facts.nodes(ast.Assign):
        if _calls(node, "reset") not in environments and _calls(node, "step") not in environments:
            continue
        targets = _targets(node)
        if _calls(node, "reset") and not targets and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if _taken_apart(facts, name):
                continue
            yield facts.finding(
                node.lineno,
                Fault.DATA,
                Severity.HIGH,
                0.93,
                f"reset gives a pair, the state and more about it, and {name} is taken for the state.",
                f"Take the pair apart: {name}, _ = ….",
                [facts.spans.replace(node.targets[0], f"{name}, _")],
            )
        elif _calls(node, "step") and len(targets) == 5 and _unread(facts, targets[3]):
            yield facts.finding(
                node.lineno,
                Fault.DATA,
                Severity.LOW,
                0.8,
                "Nothing reads whether the episode was cut off (truncated, the fourth value): the loop goes on beyond the time limit.",
                "End the episode where it is terminated or truncated.",
            )
        elif _calls(node, "step") and len(targets) == 4:
            end = targets[2]
            yield facts.finding(
                node.lineno,
                Fault.DATA,
                Severity.CRITICAL,
                0.95,
                "step gives five values, the end in two ways (terminated, truncated), and four names take them: ValueError.",
                "Take five.",
                [facts.spans.replace(end, f"{facts.spans.text(end)}, truncated")],
            )


def _calls(node: ast.Assign, method: str) -> str:
    """What a method of this name is called on; "" where it is not."""
    called = node.value.func if isinstance(node.value, ast.Call) else None
    return ast.unparse(called.value) if isinstance(called, ast.Attribute) and called.attr == method else ""


def _targets(node: ast.Assign) -> list[ast.expr]:
    target = node.targets[0]
    return target.elts if isinstance(target, ast.Tuple | ast.List) else []


def _unread(facts: Facts, target: ast.expr) -> bool:
    """Whether a name is given a value and never read."""
    return isinstance(target, ast.Name) and not any(
        node.id == target.id and isinstance(node.ctx, ast.Load) for node in facts.nodes(ast.Name)
    )


def _taken_apart(facts: Facts, name: str) -> bool:
    """Whether `name[0]` is taken, or the pair is looked into."""
    return (
        any(
            isinstance(node.value, ast.Name)
            and node.value.id == name
            and isinstance(node.slice, ast.Constant)
            and isinstance(node.slice.value, int)
            for node in facts.nodes(ast.Subscript)
        )
        or f"isinstance({name}" in facts.source.text
    )


RULE = Rule(_run)
