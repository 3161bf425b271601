"""A learning rate far from what the optimizer takes.

Why: Adam, RMSprop and their kin scale every step by themselves: from 0.1 on the weights jump and the loss stays where it is or becomes
NaN. Adadelta's default was 1.0 in Keras 2 and is 0.001 today, a thousandth of what its paper uses.
Example: `Adam(learning_rate=0.1)`; `SGD(learning_rate=10)`; `Adadelta()` in a script of Keras 2.
Fix: 0.001 for Adam, 0.01 for SGD, 1.0 for Adadelta.
Source: Kingma & Ba 2015; Zeiler 2012; keras.io/api/optimizers; DeepLocalize (ICSE 2021); TheDeepChecker (TOSEM 2023).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stethoscope.architecture.activations import LINEAR
from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.models_built import activation_of, layer_name
from stethoscope.pasted.scripts.names import meaning
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Call, Made, number

_HIGH = {"Adam": 0.1, "AdamW": 0.1, "RMSprop": 0.1, "Nadam": 0.1, "Adamax": 0.2, "SGD": 2.0, "Adagrad": 5.0}
_USUAL = {
    "Adam": 0.001,
    "AdamW": 0.001,
    "RMSprop": 0.001,
    "Nadam": 0.001,
    "Adamax": 0.001,
    "SGD": 0.01,
    "Adagrad": 0.01,
}
_WEIGHTED = frozenset(
    {
        "Dense",
        "Conv1D",
        "Conv2D",
        "Conv3D",
        "LSTM",
        "GRU",
        "SimpleRNN",
        "Embedding",
        "Bidirectional",
        "MultiHeadAttention",
    }
)
_LOW = 1e-8


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for call in facts.calls:
        name = meaning(call.name)
        own = (
            name.removeprefix("keras.optimizers.").capitalize()
            if name.lower() == name
            else name.removeprefix("keras.optimizers.")
        )
        if not name.startswith("keras.optimizers.") or id(call.node) in done:
            continue
        done.add(id(call.node))
        value = call.argument("learning_rate", 0) or call.argument("lr")
        if own == "Adadelta" and value is None and not call.spread and not facts.legacy:
            yield facts.finding(
                call,
                Fault.LEARNING_RATE,
                Severity.MEDIUM,
                0.85,
                "Adadelta without a learning rate takes 0.001 today; Keras 2 and the paper take 1.0. A thousandth of it learns very little.",
                "Give it learning_rate=1.0.",
                [facts.spans.add_argument(call.call_node, "learning_rate=1.0")],
            )
        rate = number(value)
        if rate is None or own not in _HIGH:
            continue
        node: ast.expr | None = next(
            (one.value for one in call.call_node.keywords if one.arg in ("learning_rate", "lr")), None
        )
        if node is None and call.call_node.args:
            node = call.call_node.args[0]
        edits = [facts.spans.replace(node, str(_USUAL[own]))] if isinstance(node, ast.Constant) else []
        if rate >= _HIGH[own]:
            severity = Severity.HIGH if _trains_layers(facts, call) and not _tried(facts, own) else Severity.MEDIUM
            yield facts.finding(
                node.lineno if node is not None else call.line,
                Fault.LEARNING_RATE,
                severity,
                0.85,
                f"{own} with a learning rate of {rate:g}: {_USUAL[own]:g} is usual, and from about {_HIGH[own]:g} on training jumps instead of learning.",
                f"Begin with {_USUAL[own]:g}.",
                edits,
            )
        elif rate <= _LOW and not any(meaning(one.name).endswith("LearningRateScheduler") for one in facts.calls):
            yield facts.finding(
                node.lineno if node is not None else call.line,
                Fault.LEARNING_RATE,
                Severity.HIGH,
                0.9,
                f"{own} with a learning rate of {rate:g}: the weights practically stay as they are; {_USUAL[own]:g} is usual.",
                f"Begin with {_USUAL[own]:g}.",
                edits,
            )


def _tried(facts: Facts, own: str) -> bool:
    """Whether the script tries several rates for this optimizer, usual ones among them."""
    rates = {
        number(call.argument("learning_rate", 0) or call.argument("lr"))
        for call in facts.calls
        if meaning(call.name) == f"keras.optimizers.{own}"
    }
    return any(rate is not None and rate < _HIGH[own] for rate in rates)


def _trains_layers(facts: Facts, optimizer: Call) -> bool:
    """Whether it is known to train a network of several layers: one layer takes large steps."""
    for model, compiled, _, _ in facts.compiles():
        value = compiled.argument("optimizer", 0)
        if isinstance(value, Made) and value.call.node is optimizer.node:
            with_weights = [one for one in model.layer_calls() if layer_name(one).rpartition(".")[2] in _WEIGHTED]
            if with_weights and all(_is_line(one) for one in with_weights):
                return False  # a line, whatever its parts: large steps find it too
            return len(with_weights) > 1 or model.kind == "application"
    return False


def _is_line(layer: Call) -> bool:
    return layer_name(layer) == "keras.layers.Dense" and activation_of(layer.argument("activation", 1)) == LINEAR.name


RULE = Rule(_run, same_as=frozenset({"learning-rate-high", "learning-rate-low", "learning-rate-range"}))
