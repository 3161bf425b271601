"""Operations are added to a graph in the loop that runs it.

Why: in a graph of TensorFlow 1 each call of `tf.…` adds an operation. In a loop the graph grows with each turn: each is slower than the one
before, and memory runs out.
Example: `for i in range(steps): sess.run(tf.assign(rate, rate * 0.99))`.
Fix: make the operation once, above the loop; `graph.finalize()` shows such lines.
Source: tensorflow.org/api_docs/python/tf/Graph (finalize); stackoverflow.com/questions/41695893.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule

_ADDS = re.compile(
    r"^tf\.(?:math\.)?(?:assign|assign_add|add|subtract|multiply|matmul|reduce_\w+|cast|equal|argmax|square|one_hot|reshape|nn\.\w+|gradients|constant|random_\w+|global_variables_initializer|Variable)$"
)


def _run(facts: Facts) -> Iterator[Finding]:
    text = facts.source.text
    if "Session(" not in text or "sess" not in text:
        return
    done: set[int] = set()
    loops: list[ast.For | ast.While] = [*facts.nodes(ast.For), *facts.nodes(ast.While)]
    for loop in loops:
        calls = [one for one in ast.walk(loop) if isinstance(one, ast.Call)]
        if not any(ast.unparse(one.func).endswith(("sess.run", "session.run")) for one in calls):
            continue
        for call in calls:
            name = ast.unparse(call.func)
            if not _ADDS.match(name) or call.lineno in done:
                continue
            done.add(call.lineno)
            yield facts.finding(
                call.lineno,
                Fault.MEMORY,
                Severity.MEDIUM,
                0.85,
                f"{name} adds an operation to the graph in each turn of the loop: it grows, and each turn is slower.",
                "Make the operation once, above the loop.",
            )


RULE = Rule(_run)
