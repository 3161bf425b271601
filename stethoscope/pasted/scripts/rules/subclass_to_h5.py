"""A model of one's own class in a file of HDF5.

Why: Keras writes Sequential and functional models to `.h5` alone. A subclassed model raises NotImplementedError, after the training.
Example: `net.save("net.h5")` of `class Net(keras.Model)`.
Fix: `net.save("net.keras")`, or `save_weights("net.weights.h5")`.
Source: keras.io/guides/serialization_and_saving; raised by Keras 3.15.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Class, text


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for model in facts.models:
        own = model.call.function
        if model.kind != "subclass" or not isinstance(own, Class) or "save" in own.methods or len(model.call.args) > 1:
            continue
        if any("inputs" in name for name in model.call.keywords):
            continue  # built as a functional model
        for call in model.calls("save"):
            path = text(call.argument("filepath", 0)) or ""
            if path.endswith((".h5", ".hdf5")) and id(call.node) not in done and not facts.legacy:
                done.add(id(call.node))
                node = next(iter(call.call_node.args), None)
                yield facts.finding(
                    call,
                    Fault.DEPLOYMENT,
                    Severity.HIGH,
                    0.9,
                    f"{own.node.name} is a class of the script's own, and HDF5 holds Sequential and functional models only: NotImplementedError.",
                    "Save it as .keras.",
                    [facts.spans.replace(node, repr(path.rpartition(".")[0] + ".keras"))] if node is not None else [],
                )


RULE = Rule(_run)
