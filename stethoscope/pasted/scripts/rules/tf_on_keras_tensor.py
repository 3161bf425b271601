"""A function of TensorFlow on a symbolic tensor of Keras.

Why: in a functional model of Keras 3 the tensors between layers are symbols. `tf.concat`, `tf.nn.relu` and the others do not take them:
ValueError ("A KerasTensor cannot be used as input to a TensorFlow function"). With Keras 2 they became layers by themselves.
Example: `x = layers.Dense(8)(inputs)`, `x = tf.reduce_mean(x, axis=1)`; `model.add_loss(loss_of(inputs, outputs))`.
Fix: the function of `keras.ops`, or a layer; a loss that needs inputs goes into a layer of its own.
Source: keras.io/guides/migrating_to_keras_3 ("Using TensorFlow ops on KerasTensors"); raised by Keras 3.15.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.architecture.activations import ACTIVATIONS
from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.checks.fixes.script_patch import Edit
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.names import exists, meaning
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.spelling import spelled
from stethoscope.pasted.scripts.symbolic import is_symbolic
from stethoscope.pasted.scripts.values import Call

_NO_FUNCTIONS = (
    "tensorflow.keras.",
    "tensorflow.data.",
    "tensorflow.config.",
    "tensorflow.distribute.",
    "tensorflow.compat.",
)
_NAMES = {
    "concat": "concatenate",
    "reduce_mean": "mean",
    "reduce_sum": "sum",
    "reduce_max": "max",
    "reduce_min": "min",
    "reduce_prod": "prod",
    "math.reduce_mean": "mean",
    "math.reduce_sum": "sum",
    "math.reduce_max": "max",
    "pow": "power",
    "math.l2_normalize": "normalize",
    "nn.l2_normalize": "normalize",
}
_SAME_ARGUMENTS = frozenset(ACTIVATIONS) | {
    "abs",
    "add",
    "cast",
    "concat",
    "cos",
    "exp",
    "expand_dims",
    "log",
    "matmul",
    "maximum",
    "minimum",
    "multiply",
    "ones_like",
    "pow",
    "reduce_max",
    "reduce_mean",
    "reduce_min",
    "reduce_sum",
    "reshape",
    "round",
    "sin",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "subtract",
    "tile",
    "transpose",
    "where",
    "zeros_like",
}
"""Functions whose first two arguments are the same in `keras.ops`."""


def _run(facts: Facts) -> Iterator[Finding]:
    if facts.legacy or facts.imports("tf_keras"):
        return
    done: set[int] = set()
    for call in facts.calls:
        if id(call.node) in done or call.guarded:
            continue
        if call.method == "add_loss" and call.args and is_symbolic(call.args[0]):
            model = facts.model_of(call.receiver)
            if model is not None and model.kind == "functional":
                done.add(id(call.node))
                yield facts.finding(
                    call,
                    Fault.LOSS,
                    Severity.HIGH,
                    0.93,
                    "A functional model of Keras 3 takes no add_loss of a symbolic tensor: NotImplementedError.",
                    "Write a layer that calls self.add_loss in its call, or a train_step of your own.",
                )
        if not call.name.startswith("tensorflow.") or call.name.startswith(_NO_FUNCTIONS):
            continue
        if meaning(call.name).startswith("keras.") or not any(is_symbolic(value) for value in call.args):
            continue
        done.add(id(call.node))
        new, edits = _today(facts, call)
        yield facts.finding(
            call,
            Fault.ARCHITECTURE,
            Severity.HIGH,
            0.92,
            f"{facts.spans.text(call.call_node.func)} gets a symbolic tensor of a functional model; Keras 3 raises ValueError.",
            f"Use {new}." if new else "Put it into the call of a layer of your own, or use keras.ops.",
            edits,
        )


def _today(facts: Facts, call: Call) -> tuple[str, list[Edit]]:
    own = call.name.removeprefix("tensorflow.")
    last = own.rpartition(".")[2]
    new = f"keras.ops.{_NAMES.get(own, _NAMES.get(last, last))}"
    if not exists(new):
        return "", []
    if last not in _SAME_ARGUMENTS or len(call.args) > 2 or set(call.keywords) - {"axis", "name"}:
        return new, []
    name = spelled(facts, new)
    dropped = [one for one in call.call_node.keywords if one.arg == "name"]
    edits = [facts.spans.replace(call.call_node.func, name.text), *name.edits]
    return new, [*edits, *(facts.spans.remove_argument(call.call_node, one) for one in dropped)]


RULE = Rule(_run)
