"""A last layer that does not go with the loss.

Why: softmax over one unit is always 1; a categorical loss over one unit has nothing to tell apart; softmax makes classes exclude each
other, which binary cross-entropy does not mean; a probability cannot reach targets beyond 0 … 1.
Example: `Dense(1, activation="softmax")`; `Dense(1, activation="sigmoid")` with `categorical_crossentropy`.
Fix: one unit: sigmoid and binary_crossentropy; several classes: softmax, one unit each, and a categorical loss; a number: no activation.
Source: stackoverflow.com/questions/45337371; stackoverflow.com/questions/42081257; NeuraLint (TOSEM 2021); Humbatova et al., "Taxonomy of
Real Faults in Deep Learning Systems" (ICSE 2020): wrong loss, wrong activation.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.architecture.activations import RELU, SIGMOID, SOFTMAX, TANH
from stethoscope.architecture.losses import BINARY_LOSSES, ROW_LOSSES, SPARSE_LOSSES
from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.checks.fixes.script_patch import Edit
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.labels import fed
from stethoscope.pasted.scripts.models_built import Head, Loss, Model
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.targets import one_for_each_row
from stethoscope.pasted.scripts.values import Call, Made, calls_behind, text

_BOUNDS = {RELU.name: "below 0", SIGMOID.name: "outside 0 … 1", TANH.name: "outside −1 … 1"}
_DISTANCES = frozenset(
    {"mean_squared_error", "mean_absolute_error", "huber", "log_cosh", "mean_squared_logarithmic_error"}
)


def _run(facts: Facts) -> Iterator[Finding]:
    seen: set[int] = set()
    for model, call, head, loss in facts.compiles():
        if head is not None and head.dense and head.activation == SOFTMAX.name and _several_in_a_row(model):
            seen.add(id(head.by.node))
            yield _exclusive(facts, head)
            continue
        if head is None or loss is None or head.activation is None:
            continue
        if head.units is None:
            if head.dense and head.activation == SIGMOID.name and loss.name == "categorical_crossentropy":
                yield _of_each(facts, head, loss)
            continue
        seen.add(id(head.by.node))
        yield from _held(facts, model, call, head, loss)
    for model in facts.models:
        head = model.head
        if (
            head is not None
            and head.units == 1
            and head.activation == SOFTMAX.name
            and id(head.by.node) not in seen
            and "data_format" not in head.layer.keywords
        ):
            seen.add(id(head.by.node))
            yield _softmax_of_one(facts, head)


def _held(facts: Facts, model: Model, call: Call, head: Head, loss: Loss) -> Iterator[Finding]:
    one = head.units == 1 and head.dense
    single = head.units == 1 and "data_format" not in head.layer.keywords
    if head.units == 1 and "data_format" not in head.layer.keywords and head.activation == SOFTMAX.name:
        yield _softmax_of_one(facts, head)
    elif (one or single) and loss.name in ROW_LOSSES | SPARSE_LOSSES:
        severity = Severity.CRITICAL
        yield facts.finding(
            call,
            Fault.LOSS,
            severity,
            0.95,
            f"{loss.name} tells classes apart, but the last layer has one unit: the loss is 0 or constant whatever the model says, or fails.",
            "Use binary_crossentropy with one sigmoid unit, or one unit for each class.",
            _loss_edit(facts, call, loss, "binary_crossentropy") if head.activation == SIGMOID.name else [],
        )
    elif head.activation == SOFTMAX.name and loss.name in BINARY_LOSSES and head.dense:
        labels = _labels(model)
        if labels == "one_hot":
            yield facts.finding(
                call,
                Fault.LOSS,
                Severity.MEDIUM,
                0.8,
                f"Softmax over {head.units} classes with {loss.name}: each class is scored as a yes or no of its own, and the accuracy "
                "that Keras then shows counts units, not rows. categorical_crossentropy is the loss of exclusive classes.",
                "Use categorical_crossentropy.",
                _loss_edit(facts, call, loss, "categorical_crossentropy"),
            )
        elif labels == "integer":
            yield facts.finding(
                call,
                Fault.LOSS,
                Severity.HIGH,
                0.9,
                f"{loss.name} over {head.units} softmax units with one class number for each row: the shapes do not go together.",
                "Use sparse_categorical_crossentropy.",
                _loss_edit(facts, call, loss, "sparse_categorical_crossentropy"),
            )
    elif (
        head.activation == SIGMOID.name
        and (head.units or 0) > 1
        and head.dense
        and loss.name in BINARY_LOSSES
        and any(one_for_each_row(fit) for fit in model.calls("fit"))
    ):
        yield facts.finding(
            head.by,
            Fault.ARCHITECTURE,
            Severity.HIGH,
            0.88,
            f"There is one label for each row, and {head.units} sigmoid units: {loss.name} wants a label for each unit.",
            "Use one unit.",
            _units_edit(facts, head),
        )
    elif (
        head.activation == SIGMOID.name
        and (head.units or 0) > 1
        and head.dense
        and loss.name in ROW_LOSSES | SPARSE_LOSSES
        and loss.name != "kl_divergence"
    ):
        yield _of_each(facts, head, loss)
    elif head.activation == SOFTMAX.name and loss.name in _DISTANCES and head.dense and _labels(model) == "number":
        yield facts.finding(
            call,
            Fault.ACTIVATION,
            Severity.HIGH,
            0.9,
            "The targets are numbers, but the last layer applies softmax: its outputs lie between 0 and 1 and sum to 1.",
            "Leave the activation of the last layer out.",
        )
    elif (
        head.activation in (SIGMOID.name, TANH.name, RELU.name)
        and loss.name in _DISTANCES
        and head.dense
        and _labels(model) == "number"
    ):
        bound = _BOUNDS[head.activation]
        yield facts.finding(
            head.by,
            Fault.ACTIVATION,
            Severity.HIGH if head.activation != RELU.name else Severity.LOW,
            0.85,
            f"The targets are numbers, and {head.activation} at the end can say none {bound}.",
            "Leave the activation of the last layer out.",
            _activation_edit(facts, head),
        )


def _of_each(facts: Facts, head: Head, loss: Loss) -> Finding:
    return facts.finding(
        head.by,
        Fault.ACTIVATION,
        Severity.MEDIUM,
        0.8,
        f"{loss.name} expects rows that sum to 1, but the last layer applies sigmoid to each of {head.units or 'its'} units.",
        "Use softmax for classes that exclude each other, or binary_crossentropy for several labels in a row.",
    )


def _units_edit(facts: Facts, head: Head) -> list[Edit]:
    node = head.layer.call_node
    given = next((one.value for one in node.keywords if one.arg == "units"), node.args[0] if node.args else None)
    return [] if given is None else [facts.spans.replace(given, "1")]


def _exclusive(facts: Facts, head: Head) -> Finding:
    return facts.finding(
        head.by,
        Fault.ACTIVATION,
        Severity.HIGH,
        0.9,
        "The labels are several in a row (MultiLabelBinarizer), and softmax makes classes exclude each other.",
        "Use sigmoid with binary_crossentropy.",
        _activation_edit(facts, head, SIGMOID.name),
    )


def _several_in_a_row(model: Model) -> bool:
    """Whether `MultiLabelBinarizer` made the labels."""
    return any(
        behind.receiver is not None
        and isinstance(behind.receiver, Made)
        and behind.receiver.call.name.endswith("MultiLabelBinarizer")
        for call in model.calls("fit")
        if (y := fed(call).y) is not None
        for behind in calls_behind(y)
    )


def _softmax_of_one(facts: Facts, head: Head) -> Finding:
    return facts.finding(
        head.by,
        Fault.ACTIVATION,
        Severity.CRITICAL,
        1.0,
        "Softmax over one unit is 1 for every input: every prediction is the same, whatever is learned.",
        "Use sigmoid for yes or no.",
        _activation_edit(facts, head, SIGMOID.name),
    )


def _activation_edit(facts: Facts, head: Head, new: str = "") -> list[Edit]:
    node = head.by.call_node
    argument = next((one for one in node.keywords if one.arg == "activation"), None)
    value = argument.value if argument is not None else None
    place = 1 if head.by is head.layer else 0
    if value is None and len(node.args) > place:
        value = node.args[place]
    if value is None:
        return []
    if new:
        return [facts.spans.replace(value, f'"{new}"')]
    return [facts.spans.remove_argument(node, argument)] if argument is not None and head.by is head.layer else []


def _loss_edit(facts: Facts, call: Call, loss: Loss, new: str) -> list[Edit]:
    keyword = next((one for one in call.call_node.keywords if one.arg == "loss"), None)
    node = keyword.value if keyword is not None else call.call_node.args[1] if len(call.call_node.args) > 1 else None
    return [facts.spans.replace(node, f'"{new}"')] if node is not None and text(loss.value) is not None else []


def _labels(model: Model) -> str:
    kinds = {labels.kind for call in model.calls("fit") if (labels := fed(call).labels) is not None}
    return kinds.pop() if len(kinds) == 1 else ""


RULE = Rule(
    _run,
    same_as=frozenset(
        {
            "softmax-one-unit",
            "output-units",
            "output-activation-loss",
            "loss-for-task",
            "multilabel-softmax",
            "output-range",
        }
    ),
)
