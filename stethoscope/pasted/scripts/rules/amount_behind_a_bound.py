"""An amount is predicted behind a bound, or as a yes or no.

Why: a price, an age or a duration is a number without such bounds. Sigmoid and softmax say 0 to 1, tanh −1 to 1, and a cross-entropy reads a
yes or no: the model cannot say 250,000.
Example: `y = df["price"]`, `Dense(1, activation="sigmoid")` and `loss="mse"`.
Fix: no activation at the end, and `loss="mse"` or `"mae"`.
Source: keras.io/examples/structured_data; NeuraLint's rules on activation and loss (Nikanjam et al., TOSEM 2021).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from stethoscope.architecture.activations import LINEAR, RELU, SIGMOID, SOFTMAX, TANH
from stethoscope.architecture.losses import BINARY_LOSSES, REGRESSION_LOSSES
from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.checks.fixes.script_patch import Edit
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.models_built import Head, Model
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.splits import cut_from
from stethoscope.pasted.scripts.values import Attribute, Cut, Element, Items, Made, Operation, Value, plain, text

_AMOUNT = re.compile(
    r"(?:^|_| )(?:price|prices|saleprice|median_house_value|medv|salary|income|age|cost|sales|amount|revenue|fare|charges|mpg|duration|temperature)(?:$|_| )",
    re.IGNORECASE,
)
_BOUNDED = frozenset({SIGMOID.name, SOFTMAX.name, TANH.name})
_PASSES = frozenset({"to_numpy", "astype", "reshape", "ravel", "array", "asarray", "to_frame"})


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for model in facts.models:
        yield from _several(facts, model)
        yield from _standardised(facts, model)
        yield from _written_out(facts, model)
        columns = {name for fit in model.calls("fit") if (name := _column(fit.argument("y", 1)))}
        if len(columns) != 1 or len(model.outputs) > 1:
            continue
        column = next(iter(columns))
        for call in model.compiled:
            head, loss = model.head, model.loss(call)
            if head is None or loss is None or head.units != 1 or id(call.node) in done:
                continue
            done.add(id(call.node))
            if head.activation in _BOUNDED:
                yield facts.finding(
                    head.by,
                    Fault.ACTIVATION,
                    Severity.HIGH,
                    0.88,
                    f"{column!r} is an amount, and {head.activation} at the end bounds what the model can say.",
                    "Leave the activation of the last layer out.",
                    _edits(facts, head),
                )
            if loss.name in BINARY_LOSSES or (
                loss.name not in REGRESSION_LOSSES and head.activation in (LINEAR.name, RELU.name)
            ):
                yield facts.finding(
                    call,
                    Fault.LOSS,
                    Severity.HIGH,
                    0.88,
                    f"{column!r} is an amount, and {loss.name} reads a yes or no.",
                    'Take loss="mse" or loss="mae".',
                    _of_loss(facts, call.call_node.keywords, text(loss.value)),
                )


def _several(facts: Facts, model: Model) -> Iterator[Finding]:
    """An output of several whose name is that of an amount."""
    if len(model.outputs) < 2:
        return
    for other, call, head, loss in facts.compiles():
        name = "" if head is None else text(head.layer.argument("name")) or ""
        if other is not model or head is None or loss is None or head.units != 1 or not _AMOUNT.search(name):
            continue
        if head.activation in _BOUNDED and loss.name in REGRESSION_LOSSES and not _scales(facts):
            yield facts.finding(
                head.by,
                Fault.ACTIVATION,
                Severity.MEDIUM,
                0.8,
                f"The output {name!r} is an amount, and {head.activation} bounds what the model can say.",
                "Leave the activation of the layer out, or scale the targets to its range.",
                _edits(facts, head),
            )
        elif loss.name in BINARY_LOSSES:
            yield facts.finding(
                call,
                Fault.LOSS,
                Severity.MEDIUM,
                0.8,
                f"The output {name!r} is an amount, and {loss.name} reads a yes or no.",
                "Take mse or mae for it.",
            )


def _scales(facts: Facts) -> bool:
    """Whether the script may scale its targets."""
    return bool(re.search(r"Scaler|(?:age|price|income)\w*[^\n=]*/|normali[sz]e|\.max\(\)", facts.source.text))


def _standardised(facts: Facts, model: Model) -> Iterator[Finding]:
    """Targets of a StandardScaler, below 0 for half of the rows, behind sigmoid, softmax or ReLU."""
    head = model.head
    if head is None or head.activation not in (SIGMOID.name, SOFTMAX.name, RELU.name):
        return
    for fit in model.calls("fit"):
        y = fit.argument("y", 1)
        made = y.call.receiver if isinstance(y, Made) and y.call.method in ("fit_transform", "transform") else None
        if isinstance(made, Made) and made.call.name.endswith("StandardScaler"):
            yield facts.finding(
                head.by,
                Fault.ACTIVATION,
                Severity.HIGH,
                0.9,
                f"The targets are standardised, below 0 for about half of the rows, and {head.activation} says nothing below 0.",
                "Leave the activation of the last layer out.",
                _edits(facts, head),
            )
            return


def _written_out(facts: Facts, model: Model) -> Iterator[Finding]:
    """Targets that the script itself names, some of which the last activation cannot say."""
    head = model.head
    least = {RELU.name: 0.0, SIGMOID.name: 0.0, TANH.name: -1.0}.get("" if head is None else head.activation or "")
    if head is None or least is None:
        return
    most = float("inf") if head.activation == RELU.name else 1.0
    for fit in model.calls("fit"):
        beyond = [one for one in _numbers(fit.argument("y", 1)) if not least <= one <= most]
        if beyond:
            yield facts.finding(
                head.by,
                Fault.ACTIVATION,
                Severity.HIGH,
                0.92,
                f"A target is {beyond[0]:g}, and {head.activation} at the end cannot say it.",
                "Leave the activation of the last layer out.",
                _edits(facts, head),
            )
            return


def _numbers(value: Value | None) -> list[float]:
    """The numbers that a list or array is written out with; empty where they are not known."""
    for _ in range(5):
        if not isinstance(value, Made) or value.call.method not in (
            "array",
            "asarray",
            "reshape",
            "constant",
            "astype",
        ):
            break
        of_library = value.call.name.partition(".")[0] in ("numpy", "tensorflow")
        value = (value.call.args[0] if value.call.args else None) if of_library else value.call.receiver
    found: list[float] = []
    queue = [plain(value)]
    while queue:
        one = queue.pop()
        if isinstance(one, list):
            queue.extend(one)
        elif isinstance(one, int | float) and not isinstance(one, bool):
            found.append(float(one))
    return found[::-1]


def _column(value: Value | None) -> str:
    """The column that the targets are, as they come from a table; "" for others, and for scaled ones."""
    for _ in range(20):
        if isinstance(value, Attribute) and value.name == "values":
            value = value.of
        elif isinstance(value, Made) and value.call.method in _PASSES:
            value = value.call.receiver or (value.call.args[0] if value.call.args else None)
        elif isinstance(value, Made) and value.call.method == "pop" and value.call.args:
            name = text(value.call.args[0]) or ""
            return name if _AMOUNT.search(name) else ""
        elif whole := cut_from(value):
            value = whole
        elif isinstance(value, Element) and isinstance(value.key, Cut):
            value = value.of
        elif isinstance(value, Element):
            held = value.key.items if isinstance(value.key, Items) else []
            said = text(held[0]) if len(held) == 1 else text(value.key)
            return said if said is not None and not isinstance(value.of, Operation) and _AMOUNT.search(said) else ""
        else:
            return ""
    return ""


def _edits(facts: Facts, head: Head) -> list[Edit]:
    given = next((one for one in head.by.call_node.keywords if one.arg == "activation"), None)
    return [] if given is None else [facts.spans.remove_argument(head.by.call_node, given)]


def _of_loss(facts: Facts, keywords: list[ast.keyword], said: str | None) -> list[Edit]:
    given = next((one for one in keywords if one.arg == "loss"), None)
    return [] if given is None or said is None else [facts.spans.replace(given.value, '"mse"')]


RULE = Rule(_run, same_as=frozenset({"output-range"}))
