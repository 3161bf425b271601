"""A loss for an output that the model does not have.

Why: a dict of losses, weights or metrics names outputs by their layers. A name that no output has is refused: ValueError or KeyError.
Example: `Dense(1, name="priority")` and `loss={"priorities": "mse"}`.
Fix: the name of the output's layer.
Source: keras.io/guides/functional_api ("Models with multiple inputs and outputs"); raised by Keras 3.15; stackoverflow.com/questions/44036971.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.models_built import Model, layer_of_tensor
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Made, Pairs, text


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for model in facts.models:
        names = _names(model)
        for call in model.compiled if names else ():
            for argument in ("loss", "loss_weights", "metrics"):
                given = call.argument(argument)
                wrong = [key for key in given.pairs if key not in names] if isinstance(given, Pairs) else []
                if not wrong or id(call.node) in done:
                    continue
                done.add(id(call.node))
                yield facts.finding(
                    _line(call.call_node, str(wrong[0])) or call.line,
                    Fault.LOSS,
                    Severity.HIGH,
                    0.92,
                    f"{argument} is given for {str(wrong[0])[:60]!r}, and the outputs are called {', '.join(sorted(names))[:120]}.",
                    "Use the names of the last layers.",
                )


def _names(model: Model) -> set[str]:
    """The names of all outputs; empty where one is not known."""
    found = set()
    for tensor in model.outputs:
        step = layer_of_tensor(tensor)
        layer = step[0] if step is not None else None
        name = text(layer.call.argument("name")) if isinstance(layer, Made) else None
        if name is None:
            return set()
        found.add(name)
    return found


def _line(call: ast.Call, key: str) -> int:
    return next((one.lineno for one in ast.walk(call) if isinstance(one, ast.Constant) and one.value == key), 0)


RULE = Rule(_run)
