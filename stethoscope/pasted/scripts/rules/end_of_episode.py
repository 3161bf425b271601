"""What comes after the end of an episode is counted, and the rest is not.

Why: a target of Q-learning adds the value of the next state, except where the episode ended. Multiplied by `done`, it is added there only.
Example: `target = reward + gamma * next_q * done`.
Fix: `target = reward + gamma * next_q * (1 - done)`.
Source: Mnih et al., "Human-level control through deep reinforcement learning" (Nature 2015), algorithm 1; Sutton & Barto, 6.5.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule

_DONE = re.compile(r"^(?:dones?|terminals?|terminated|is_done|done_batch|batch_done|dones_batch)$")
_DISCOUNT = re.compile(r"gamma|discount", re.IGNORECASE)
_TURNED = re.compile(r"(?:[(,=]|float|int)\s*not done|1(?:\.0*)? ?- ?(?:\w+\()*done|1 - \w*terminal|~done")


def _run(facts: Facts) -> Iterator[Finding]:
    if _TURNED.search(facts.source.text):
        return
    inner = {
        id(side) for node in facts.nodes(ast.BinOp) if isinstance(node.op, ast.Mult) for side in (node.left, node.right)
    }
    for node in facts.nodes(ast.BinOp):
        if not isinstance(node.op, ast.Mult) or id(node) in inner:
            continue
        factors = list(_factors(node))
        end = next((one for one in factors if _DONE.match(_bare(one))), None)
        if end is None or not any(_DISCOUNT.search(ast.unparse(one)) for one in factors):
            continue
        yield facts.finding(
            end.lineno,
            Fault.LABELS,
            Severity.HIGH,
            0.9,
            "The value of the next state is multiplied by the sign that the episode ended: it counts only where there is no next state.",
            "Multiply it by 1 - done.",
            [facts.spans.replace(end, f"(1 - {facts.spans.text(end)})")],
        )


def _factors(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        yield from _factors(node.left)
        yield from _factors(node.right)
    else:
        yield node


def _bare(node: ast.expr) -> str:
    """`done` of `tf.cast(done, tf.float32)` and of `done.astype("float32")`."""
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and node.func.attr == "astype":
            return _bare(node.func.value)
        return (
            _bare(node.args[0]) if node.args and ast.unparse(node.func).endswith(("cast", "float32", "array")) else ""
        )
    return node.id if isinstance(node, ast.Name) else ""


RULE = Rule(_run)
