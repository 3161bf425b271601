"""A method that models, layers, metrics or strategies do not have any more.

Why: `fit_generator`, `predict_generator` and `evaluate_generator` went into `fit`, `predict` and `evaluate`; `predict_classes` and
`predict_proba` are gone since TensorFlow 2.6. The line raises AttributeError.
Example: `model.fit_generator(flow, epochs=10)`, `model.predict_classes(x)`, `strategy.experimental_run_v2(step)`.
Fix: the method of today; for `predict_classes` the line that says what it did.
Source: the release notes of TensorFlow 2.2 and 2.6; keras.io/guides/migrating_to_keras_3.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stethoscope.architecture.activations import SOFTMAX
from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.checks.fixes.script_patch import Edit
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.names import meaning
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Call, Made, Value, text

_RENAMED = {
    "fit_generator": "fit",
    "evaluate_generator": "evaluate",
    "predict_generator": "predict",
    "experimental_run_v2": "run",
}
_ARGUMENTS = {
    "generator": "x",
    "nb_epoch": "epochs",
    "nb_val_samples": "validation_steps",
    "samples_per_epoch": "steps_per_epoch",
    "val_samples": "steps",
    "workers": "",
    "use_multiprocessing": "",
    "max_queue_size": "",
    "max_q_size": "",
    "nb_worker": "",
    "pickle_safe": "",
}
_LAYER_ATTRIBUTES = {
    "output_shape": "layer.output.shape",
    "input_shape": "layer.input.shape",
    "get_output_at": "layer.output",
    "get_input_at": "layer.input",
    "inbound_nodes": "",
    "outbound_nodes": "",
}


def _run(facts: Facts) -> Iterator[Finding]:
    if facts.legacy:
        return
    done: set[int] = set()
    for call in facts.calls:
        if call.guarded or id(call.node) in done or call.receiver is None:
            continue
        done.add(id(call.node))
        if call.method in _RENAMED and not call.name:
            yield _renamed(facts, call)
        elif call.method in ("predict_classes", "predict_proba"):
            found = _prediction(facts, call)
            if found is not None:
                yield found
        elif (
            call.method == "add_weight" and call.args and text(call.args[0]) is not None and "name" not in call.keywords
        ):
            yield facts.finding(
                call,
                Fault.DEPLOYMENT,
                Severity.HIGH,
                0.93,
                "add_weight of Keras 3 takes the name by keyword only, and the shape first: this raises ValueError.",
                "Write name=.",
                _named(facts, call),
            )
        elif (
            call.method == "minimize"
            and isinstance(call.receiver, Made)
            and meaning(call.receiver.call.name).startswith("keras.optimizers.")
        ):
            yield facts.finding(
                call,
                Fault.DEPLOYMENT,
                Severity.HIGH,
                0.95,
                "An optimizer of Keras 3 has no minimize.",
                "Take the gradient with a GradientTape, and call apply_gradients.",
                (),
                "with tf.GradientTape() as tape:\n    loss = loss_fn()\ngradients = tape.gradient(loss, variables)\noptimizer.apply_gradients(zip(gradients, variables))",
            )
        elif call.method == "reset_states" and _is_metric(call.receiver):
            yield facts.finding(
                call,
                Fault.DEPLOYMENT,
                Severity.HIGH,
                0.9,
                "A metric of Keras 3 has no reset_states: it is reset_state.",
                "Write reset_state().",
                [facts.spans.rename_last(call.call_node.func, "reset_state")],
            )
    yield from _attributes(facts)


def _named(facts: Facts, call: Call) -> list[Edit]:
    node = call.call_node
    if len(node.args) > 1:
        return []
    return [facts.spans.replace(node.args[0], f"name={facts.spans.text(node.args[0])}")]


def _renamed(facts: Facts, call: Call) -> Finding:
    new = _RENAMED[call.method]
    node = call.call_node
    edits: list[Edit] = [facts.spans.rename_last(node.func, new)]
    dropped = []
    for keyword in node.keywords:
        if keyword.arg not in _ARGUMENTS or new in ("run", "add_weight"):
            continue
        renamed = _ARGUMENTS[keyword.arg]
        if renamed:
            edits.append(facts.spans.rename_keyword(keyword, renamed))
        else:
            dropped.append(keyword)
    edits.extend(_without(facts, node, dropped))
    who = {"run": "A strategy", "add_weight": "A layer"}.get(new, "A model of Keras 3")
    return facts.finding(
        node.func.end_lineno or call.line,
        Fault.DEPLOYMENT,
        Severity.HIGH,
        0.97,
        f"{who} has no {call.method}: {new} does it.",
        f"Call {new}.",
        edits,
    )


def _without(facts: Facts, node: ast.Call, dropped: list[ast.keyword]) -> list[Edit]:
    """Arguments taken out together, each from the end of the one that stays before it."""
    rest: list[ast.expr | ast.keyword] = sorted(
        [*node.args, *node.keywords], key=lambda one: (one.lineno, one.col_offset)
    )
    edits = []
    for keyword in dropped:
        place = rest.index(keyword)
        if place == 0:
            return [facts.spans.remove_argument(node, keyword)]
        before, own = facts.spans.replace(rest[place - 1], ""), facts.spans.replace(keyword, "")
        edits.append(Edit(own.part, before.end, own.end, ""))
    return edits


def _prediction(facts: Facts, call: Call) -> Finding | None:
    model = facts.model_of(call.receiver)
    if call.method == "predict_proba" and model is None:
        return None  # scikit-learn's own
    if call.method == "predict_classes" and model is None and not facts.uses_keras:
        return None
    head = model.head if model is not None else None
    node = call.call_node
    edits = [facts.spans.rename_last(node.func, "predict")]
    now = "predict"
    if call.method == "predict_classes":
        whole = facts.spans.replace(node, "")
        one = head is not None and head.units == 1
        several = head is not None and head.activation == SOFTMAX.name and head.units != 1
        if head is None or (head.units is None and not several):
            edits = []
            now = "predict, then argmax(axis=-1) for classes, or > 0.5 for one unit"
        elif one:
            edits += [
                Edit(whole.part, whole.start, whole.start, "("),
                Edit(whole.part, whole.end, whole.end, ' > 0.5).astype("int32")'),
            ]
            now = 'predict, then (… > 0.5).astype("int32")'
        else:
            edits.append(Edit(whole.part, whole.end, whole.end, ".argmax(axis=-1)"))
            now = "predict, then argmax(axis=-1)"
    receiver = facts.spans.text(node.func.value) if isinstance(node.func, ast.Attribute) else "model"
    return facts.finding(
        call,
        Fault.DEPLOYMENT,
        Severity.HIGH,
        0.9 if model is None else 0.97,
        f"A model of Keras 3 has no {call.method} (gone since TensorFlow 2.6).",
        f"Write {now}.",
        edits,
        f'{receiver}.predict(x).argmax(axis=-1)  # several classes\n({receiver}.predict(x) > 0.5).astype("int32")  # one sigmoid unit',
    )


def _is_metric(value: Value | None) -> bool:
    return isinstance(value, Made) and meaning(value.call.name).startswith("keras.metrics.")


def _attributes(facts: Facts) -> Iterator[Finding]:
    seen: set[int] = set()
    for node in ast.walk(facts.parsed.tree):
        # layer.output_shape of what stands in model.layers
        if not isinstance(node, ast.Attribute) or node.attr not in _LAYER_ATTRIBUTES or node.lineno in seen:
            continue
        owner = node.value
        layer = (
            isinstance(owner, ast.Subscript) and isinstance(owner.value, ast.Attribute) and owner.value.attr == "layers"
        ) or (isinstance(owner, ast.Call) and isinstance(owner.func, ast.Attribute) and owner.func.attr == "get_layer")
        if not layer or not isinstance(node.ctx, ast.Load) or not facts.uses_keras:
            continue
        seen.add(node.lineno)
        new = _LAYER_ATTRIBUTES[node.attr]
        simple = node.attr in ("output_shape", "input_shape")
        yield facts.finding(
            node.lineno,
            Fault.DEPLOYMENT,
            Severity.HIGH,
            0.85,
            f"A layer of Keras 3 has no {node.attr}.{f' Write {new}.' if new else ''}",
            f"Write {new}." if new else f"Do without {node.attr}.",
            [facts.spans.rename_last(node, node.attr.partition("_")[0] + ".shape")] if simple else [],
        )


RULE = Rule(_run)
