"""A loss that takes the output for something else than the last activation makes of it.

Why: a cross-entropy reads probabilities, or, with `from_logits=True`, raw scores. Raw scores taken for probabilities are clipped to
0 … 1, and nothing, or little, is learned; probabilities taken for raw scores are squeezed together.
Example: `Dense(10)` and `loss="sparse_categorical_crossentropy"`; `Dense(10, activation="softmax")` and `from_logits=True`.
Fix: softmax (sigmoid for one unit) and no `from_logits`, or neither activation nor probabilities: `from_logits=True`.
Limits: where softmax comes last Keras 3 looks behind it and only warns; so that is MEDIUM.
Source: keras.io/api/losses/probabilistic_losses; stackoverflow.com/questions/61233425; UMLAUT (Schoop et al., CHI 2021); NeuraLint rule on
activation and loss (Nikanjam et al., TOSEM 2021).
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.architecture.activations import LINEAR, PROBABILITIES, SIGMOID, SOFTMAX, TANH, UNBOUNDED
from stethoscope.architecture.losses import BINARY_LOSSES, LOGITS_LOSSES, PROBABILITY_LOSSES, loss_class
from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.checks.fixes.script_patch import Edit
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.models_built import Head, Loss, loss_of
from stethoscope.pasted.scripts.names import meaning
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.spelling import spelled
from stethoscope.pasted.scripts.values import Call, Made, Ref, text

_RAW = UNBOUNDED | {TANH.name}


def _run(facts: Facts) -> Iterator[Finding]:
    for model, call, head, loss in facts.compiles():
        if head is None or loss is None or loss.from_logits is None or head.activation is None:
            continue
        if loss.from_logits and head.activation in PROBABILITIES and loss.name in PROBABILITY_LOSSES:
            yield _twice(facts, call, head, loss)
        elif not loss.from_logits and head.activation in _RAW and loss.name in PROBABILITY_LOSSES:
            # One output of several may be there for its shape alone.
            yield _raw(facts, call, head, loss, Severity.HIGH if len(model.outputs) < 2 else Severity.MEDIUM)
    yield from _of_loops(facts)


def _of_loops(facts: Facts) -> Iterator[Finding]:
    """A loss that is called with what a model gives, in a loop of the script's own."""
    done: set[int] = set()
    for call in facts.calls:
        output = call.argument("y_pred", 1)
        made = output.call.function if isinstance(output, Made) else None
        model = facts.model_of(made) if isinstance(made, Made) else None
        loss = loss_of(call.function) if isinstance(call.function, Made) else _of_function(call)
        head = None if model is None else model.head
        if head is None or head.activation is None or loss is None or loss.call is None or id(loss.call.node) in done:
            continue
        if loss.call is call and head.activation in PROBABILITIES:
            continue
        if loss.name not in PROBABILITY_LOSSES or loss.from_logits is None:
            continue
        if loss.from_logits and head.activation in PROBABILITIES:
            done.add(id(loss.call.node))
            yield _twice(facts, loss.call, head, loss)
        elif not loss.from_logits and head.activation in _RAW:
            done.add(id(loss.call.node))
            yield _raw(facts, loss.call, head, loss, Severity.HIGH)


def _of_function(call: Call) -> Loss | None:
    """A loss of Keras that is called as a function: `keras.losses.binary_crossentropy(y, p)`."""
    name = meaning(call.name)
    if (
        not name.startswith("keras.losses.")
        or not name.rpartition(".")[2][:1].islower()
        or "from_logits" in call.keywords
    ):
        return None
    found = loss_of(Ref(name))
    return None if found is None or len(call.args) > 2 else Loss(found.name, False, found.value, call)


def _twice(facts: Facts, call: Call, head: Head, loss: Loss) -> Finding:
    assert loss.call is not None
    argument = next((one for one in loss.call.call_node.keywords if one.arg == "from_logits"), None)
    edits = [] if argument is None else [facts.spans.remove_argument(loss.call.call_node, argument)]
    at = argument.lineno if argument is not None else call.line
    return facts.finding(
        at,
        Fault.LOSS,
        Severity.MEDIUM,
        0.85,
        f"The loss is told that the output is raw (from_logits=True), but line {_line(facts, head.by)} already applies {head.activation}: "
        "one of the two is wrong. Keras 3 only warns; elsewhere it is applied twice.",
        "Leave from_logits out.",
        edits,
    )


def _raw(facts: Facts, call: Call, head: Head, loss: Loss, severity: Severity) -> Finding:
    wanted = SIGMOID.name if loss.name in BINARY_LOSSES else SOFTMAX.name
    said = "has no activation" if head.activation == LINEAR.name else f"applies {head.activation}"
    message = (
        f"{loss.name} reads probabilities, but the last layer (line {_line(facts, head.layer)}) {said}: raw scores are clipped to 0 … 1, "
        "and most of what the loss could teach is lost."
    )
    edits: list[Edit] = []
    summary = f"Give the last layer activation={wanted!r}."
    if loss.name in LOGITS_LOSSES and head.activation == LINEAR.name:
        summary = "Tell the loss that the output is raw: from_logits=True."
        if loss.call is not None and "from_logits" not in loss.call.keywords:
            edits = [facts.spans.add_argument(loss.call.call_node, "from_logits=True")]
        elif text(loss.value) is not None:
            keyword = next((one for one in call.call_node.keywords if one.arg == "loss"), None)
            name = spelled(facts, f"{_root(facts)}.losses.{loss_class(loss.name)}")
            if keyword is not None:
                edits = [facts.spans.replace(keyword.value, f"{name.text}(from_logits=True)"), *name.edits]
    return facts.finding(call, Fault.LOSS, severity, 0.95, message, summary, edits)


def _root(facts: Facts) -> str:
    return (
        "keras"
        if facts.imports("keras") and not facts.imports("tensorflow")
        else "tensorflow.keras"
        if facts.imports("tensorflow")
        else "keras"
    )


def _line(facts: Facts, call: Call) -> str:
    return (
        facts.source.where(call.line).rpartition(":")[2]
        if not facts.source.notebook
        else facts.source.where(call.line).partition(":")[2]
    )


RULE = Rule(_run, same_as=frozenset({"from-logits", "output-activation-loss"}))
