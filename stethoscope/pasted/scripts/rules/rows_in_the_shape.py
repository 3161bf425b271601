"""The count of rows in the shape of one row.

Why: `input_shape` is the shape of one row. `x.shape` begins with the count of rows, which makes one axis more than the data has: ValueError.
Example: `Dense(64, input_shape=x_train.shape)` and `model.fit(x_train, y_train)`.
Fix: `x_train.shape[1:]`.
Source: keras.io/guides/sequential_model ("Specifying the input shape in advance"); stackoverflow.com/questions/44747343.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.models_built import tensor_layers
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Attribute, Made


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for model in facts.models:
        rows = [x for call in model.calls("fit") if (x := call.argument("x", 0)) is not None]
        for layer in (*model.layers, *tensor_layers(model.outputs)):
            call = layer.call if isinstance(layer, Made) else None
            shape = None if call is None else call.argument("input_shape") or call.argument("shape")
            if call is None or not isinstance(shape, Attribute) or shape.name != "shape" or id(call.node) in done:
                continue
            if any(shape.of is x for x in rows):
                done.add(id(call.node))
                node = next(one.value for one in call.call_node.keywords if one.arg in ("input_shape", "shape"))
                yield facts.finding(
                    call,
                    Fault.ARCHITECTURE,
                    Severity.HIGH,
                    0.92,
                    f"{facts.spans.text(node)[:60]} begins with the count of rows, and the shape of one row is wanted.",
                    "Leave the first number out.",
                    [facts.spans.replace(node, f"{facts.spans.text(node)}[1:]")],
                )


RULE = Rule(_run)
