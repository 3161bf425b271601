"""A tuner gives all layers the same number.

Why: a tuner knows a setting by its name. Asked again for a name that it knows, in a loop over layers, it gives the same value: the layers are
never tuned apart.
Example: `for i in range(3): x = Dense(hp.Int("units", 32, 256))(x)`.
Fix: `hp.Int(f"units_{i}", 32, 256)`.
Source: keras.io/keras_tuner/getting_started ("units_{i}"); keras.io/keras_tuner/api/hyperparameters.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.checks.fixes.script_patch import Edit
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule

_ASKS = ("Int", "Float", "Choice", "Boolean")


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for loop in facts.nodes(ast.For):
        for call in ast.walk(loop):
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or id(call) in done:
                continue
            if call.func.attr not in _ASKS or ast.unparse(call.func.value) not in ("hp", "hyperparameters", "self.hp"):
                continue
            node = call.args[0] if call.args else next((one.value for one in call.keywords if one.arg == "name"), None)
            if (
                not isinstance(node, ast.Constant)
                or not isinstance(node.value, str)
                or call in list(ast.walk(loop.iter))
            ):
                continue
            done.add(id(call))
            yield facts.finding(
                call.lineno,
                Fault.ARCHITECTURE,
                Severity.MEDIUM,
                0.88,
                f"The setting {node.value!r} is asked for in a loop under one name: each turn gets the same value.",
                "Give each turn a name of its own.",
                _edits(facts, loop, node, node.value),
            )


def _edits(facts: Facts, loop: ast.For, node: ast.Constant, name: str) -> list[Edit]:
    if not isinstance(loop.target, ast.Name) or loop.target.id == "_" or not name.isidentifier():
        return []
    return [facts.spans.replace(node, f'f"{name}_{{{loop.target.id}}}"')]


RULE = Rule(_run)
