"""A second network that is the first one under another name.

Why: `target = model` copies nothing: both names are one network, and what changes in one changes in the other. A target network that moves
with each step holds nothing still.
Example: `target_net = q_net` and later `target_net.set_weights(q_net.get_weights())`.
Fix: `target_net = keras.models.clone_model(q_net)` and `target_net.set_weights(q_net.get_weights())`.
Source: Mnih et al. (Nature 2015): a separate network for the targets; keras.io/api/models/model_saving_apis (clone_model).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.spelling import spelled


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[str] = set()
    for call in facts.nodes(ast.Call):
        pair = _copied(call)
        if pair is None or pair[0] == pair[1] or pair[0] in done:
            continue
        names = [node for node in facts.nodes(ast.Assign) if any(ast.unparse(one) == pair[0] for one in node.targets)]
        if len(names) != 1 or ast.unparse(names[0].value) != pair[1]:
            continue
        done.add(pair[0])
        clone = spelled(facts, f"{'tensorflow.' if facts.imports('tensorflow') else ''}keras.models.clone_model")
        yield facts.finding(
            names[0].lineno,
            Fault.ARCHITECTURE,
            Severity.HIGH,
            0.93,
            f"{pair[0][:60]} is {pair[1][:60]} under another name, not a copy: the weights that line {facts.source.where(call.lineno).rpartition(':')[2]} sets are its own.",
            "Make a copy.",
            [facts.spans.replace(names[0].value, f"{clone.text}({facts.spans.text(names[0].value)})"), *clone.edits],
        )


def _copied(call: ast.Call) -> tuple[str, str] | None:
    """(to, from) of `to.set_weights(from.get_weights())`."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "set_weights" or len(call.args) != 1:
        return None
    given = call.args[0]
    if not isinstance(given, ast.Call) or not isinstance(given.func, ast.Attribute) or given.func.attr != "get_weights":
        return None
    return ast.unparse(call.func.value), ast.unparse(given.func.value)


RULE = Rule(_run)
