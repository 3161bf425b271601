"""Classes are compared across the rows, and not within each.

Why: the output of a model has a row for each sample; its classes lie on the last axis. Along axis 0 the samples compete with each other.
`tf.argmax` takes axis 0 where nothing is said.
Example: `tf.nn.softmax(logits, axis=0)`; `tf.argmax(model(images))`; `model.predict(x).argmax(axis=0)`.
Fix: `axis=-1`.
Source: tensorflow.org/api_docs/python/tf/math/argmax (axis: default 0); stackoverflow.com/questions/38094217.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.architecture.activations import SIGMOID, SOFTMAX
from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.checks.fixes.script_patch import Edit
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.models_built import Model
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Attribute, Call, Const, Element, Made, Value, is_const

_ZERO_BY_DEFAULT = frozenset({"tensorflow.argmax", "tensorflow.math.argmax"})
_COMPARES = frozenset(
    {
        *_ZERO_BY_DEFAULT,
        "numpy.argmax",
        "numpy.max",
        "tensorflow.nn.softmax",
        "tensorflow.reduce_max",
        "tensorflow.math.reduce_max",
        "tensorflow.keras.activations.softmax",
        "keras.activations.softmax",
        "keras.ops.argmax",
        "keras.ops.softmax",
    }
)
_KEEPS = (SOFTMAX.name, SIGMOID.name, "stop_gradient", "numpy", "cast", "convert_to_tensor", "astype")


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for call in facts.calls:
        own = call.method in ("argmax", "max") and not call.name and call.receiver is not None
        if (call.name not in _COMPARES and not own) or id(call.node) in done or call.spread:
            continue
        value = call.receiver if own else call.args[0] if call.args else None
        axis = call.argument("axis", 0 if own else 1)
        rows = is_const(axis, 0) or (
            axis is None and call.name in _ZERO_BY_DEFAULT and "dimension" not in call.keywords
        )
        output = _output(facts, value) if rows else None
        if output is None:
            continue
        done.add(id(call.node))
        head = output.head if isinstance(output, Model) else None
        if head is not None and head.units == 1:
            continue  # the best of several rows
        yield facts.finding(
            call,
            Fault.METRIC,
            Severity.HIGH if head is not None and head.units else Severity.MEDIUM,
            0.9,
            f"{call.method} is taken over axis 0, the rows of the batch: the samples are compared with each other, not their classes.",
            "Take the last axis: axis=-1.",
            _edits(facts, call, axis is None),
        )


def _edits(facts: Facts, call: Call, unsaid: bool) -> list[Edit]:
    if unsaid:
        return [facts.spans.add_argument(call.call_node, "axis=-1")]
    node = next((one.value for one in call.call_node.keywords if one.arg == "axis"), None)
    return [facts.spans.replace(node or call.call_node.args[-1], "-1")]


def _output(facts: Facts, value: Value | None) -> Model | bool | None:
    """The model whose output for a batch this is; True where only that much is known."""
    for _ in range(6):
        if isinstance(value, Attribute) and value.name == "logits":
            value = value.of
        if isinstance(value, Element) and isinstance(value.key, Const) and isinstance(value.of, Made):
            model = facts.model_of(value.of.call.function) if isinstance(value.of.call.function, Made) else None
            return True if model is not None and len(model.outputs) > 1 else None
        if not isinstance(value, Made):
            return None
        call = value.call
        if call.method in ("predict", "predict_on_batch") and not call.name:
            return facts.model_of(call.receiver) or True
        if isinstance(call.function, Made):
            return facts.model_of(call.function)
        if call.method not in _KEEPS:
            return None
        value = call.args[0] if call.name and call.args else call.receiver
    return None


RULE = Rule(_run)
