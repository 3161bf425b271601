"""An input that the outputs do not come from.

Why: a model with two inputs is to use both. Where no layer leads from one of them to an output, what is fed there changes nothing.
Example: an encoder whose states the decoder does not get, and `Model([encoder_inputs, decoder_inputs], outputs)`.
Fix: connect it: `LSTM(…)(x, initial_state=[h, c])`.
Source: keras.io/guides/functional_api; blog.keras.io/a-ten-minute-introduction-to-sequence-to-sequence-learning-in-keras.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.models_built import layer_name
from stethoscope.pasted.scripts.names import meaning
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.symbolic import is_symbolic
from stethoscope.pasted.scripts.values import Call, Items, Made, Value, ancestors


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for model in facts.models:
        inputs = model.call.argument("inputs", 0)
        if model.kind != "functional" or not isinstance(inputs, Items) or len(inputs.items) < 2 or not model.outputs:
            continue
        if id(model.call.node) in done or inputs.more or not all(is_symbolic(one) for one in model.outputs):
            continue
        behind = {id(one) for output in model.outputs for one in ancestors(output)}
        names = model.call.call_node.args[0] if model.call.call_node.args else None
        for place, one in enumerate(inputs.items):
            if not isinstance(one, Made) or meaning(one.call.name) != "keras.layers.Input" or id(one) in behind:
                continue
            done.add(id(model.call.node))
            name = (
                ast.unparse(names.elts[place])
                if isinstance(names, ast.List | ast.Tuple) and place < len(names.elts)
                else "it"
            )
            yield facts.finding(
                _unled(model.outputs) or model.call,
                Fault.ARCHITECTURE,
                Severity.HIGH,
                0.88,
                f"Nothing leads from the input {name[:60]} to an output: what is fed there changes nothing.",
                "Connect it: give the decoder the states of the encoder (initial_state), or join the two.",
            )


def _unled(outputs: Sequence[Value]) -> Call | None:
    """The recurrent layer of a decoder that gets no state."""
    for output in outputs:
        for one in ancestors(output):
            layer = one.call.function if isinstance(one, Made) else None
            if isinstance(one, Made) and isinstance(layer, Made) and layer_name(layer.call).endswith(("LSTM", "GRU")):
                return None if "initial_state" in one.call.keywords else one.call
    return None


RULE = Rule(_run)
