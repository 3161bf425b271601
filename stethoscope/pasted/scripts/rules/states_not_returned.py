"""The states of a recurrent layer that gives none.

Why: a recurrent layer gives one tensor. Only with `return_state=True` its states follow, and only then can they be unpacked.
Example: `out, h, c = LSTM(256)(x)`.
Fix: `LSTM(256, return_state=True)`.
Source: keras.io/api/layers/recurrent_layers/lstm (return_state); stackoverflow.com/questions/42720627; keras.io/examples/nlp/lstm_seq2seq.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.models_built import layer_name
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Made

_RECURRENT = frozenset(f"keras.layers.{name}" for name in ("LSTM", "GRU", "SimpleRNN"))


def _run(facts: Facts) -> Iterator[Finding]:
    parts = {
        id(node.value): len(node.targets[0].elts)
        for node in ast.walk(facts.parsed.tree)
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Tuple)
        and not any(isinstance(one, ast.Starred) for one in node.targets[0].elts)
    }
    done: set[int] = set()
    for call in facts.calls:
        layer = call.function.call if isinstance(call.function, Made) else None
        if layer is None or layer_name(layer) not in _RECURRENT or parts.get(id(call.node), 0) < 2:
            continue
        if layer.argument("return_state") is not None or layer.spread or id(call.node) in done:
            continue
        done.add(id(call.node))
        yield facts.finding(
            call,
            Fault.ARCHITECTURE,
            Severity.HIGH,
            0.95,
            f"The layer of line {facts.source.where(layer.line).rpartition(':')[2]} gives one tensor, and {parts[id(call.node)]} are taken.",
            "Give the layer return_state=True.",
            [facts.spans.add_argument(layer.call_node, "return_state=True")],
        )


RULE = Rule(_run)
