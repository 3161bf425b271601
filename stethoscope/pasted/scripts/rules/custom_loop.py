"""A training loop of one's own that does not train.

Why: a gradient exists only of what the tape has recorded, through operations of TensorFlow. A loss computed outside the tape, through
NumPy or `argmax`, has none; an optimizer made anew for each step forgets its moments; `apply_gradients` wants pairs of gradient and
variable; without `training=True` dropout does nothing and batch normalisation does not learn.
Example: `with tf.GradientTape() as tape: y_hat = model(x)` and `loss = loss_fn(y, y_hat)` below the block; `optimizer.apply_gradients(grads)`.
Fix: what the message says.
Source: tensorflow.org/guide/autodiff ("Getting a gradient of None"); keras.io/guides/writing_a_custom_training_loop_in_tensorflow;
stackoverflow.com/questions/56693863; raised by TensorFlow 2.21.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from stethoscope.architecture.losses import PROBABILITY_LOSSES, snake
from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.checks.fixes.script_patch import Edit
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.models_built import Model, layer_name
from stethoscope.pasted.scripts.names import meaning
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Attribute, Call, Class, Made, Value, ancestors

_TRAINS_APART = frozenset(
    {
        "keras.layers.Dropout",
        "keras.layers.BatchNormalization",
        "keras.layers.SpatialDropout1D",
        "keras.layers.SpatialDropout2D",
        "keras.layers.GaussianNoise",
        "keras.layers.AlphaDropout",
    }
)

_PREDICTED = re.compile(r"^(?:y_?pred\w*|y_?hat|predictions?|preds?|logits|outputs?|probs)$")
_TRUE = re.compile(r"^(?:y|y_?true|labels?|targets?|truth|y_?batch|batch_y|ground_truth)$")


def _run(facts: Facts) -> Iterator[Finding]:
    yield from _tapes(facts)
    yield from _optimizers(facts)
    yield from _calls(facts)
    yield from _turned_round(facts)


def _tapes(facts: Facts) -> Iterator[Finding]:
    for node in ast.walk(facts.parsed.tree):
        if not isinstance(node, ast.FunctionDef | ast.For | ast.While | ast.Module | ast.If | ast.With):
            continue
        body = node.body
        for place, statement in enumerate(body):
            tape = _tape(facts, statement)
            if tape is None:
                continue
            assert isinstance(statement, ast.With)
            yield from _below(facts, statement, tape, body[place + 1 :])
            yield from _inside(facts, statement)


def _tape(facts: Facts, statement: ast.stmt) -> str | None:
    if not isinstance(statement, ast.With):
        return None
    for item in statement.items:
        written = ast.unparse(item.context_expr)
        if "GradientTape(" in written and isinstance(item.optional_vars, ast.Name):
            return item.optional_vars.id
    return None


def _stores(nodes: list[ast.stmt]) -> set[str]:
    return {
        one.id
        for node in nodes
        for one in ast.walk(node)
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
    }


def _below(facts: Facts, statement: ast.With, tape: str, rest: list[ast.stmt]) -> Iterator[Finding]:
    """`tape.gradient(loss, …)` of a loss that is computed below the block."""
    recorded = _stores(statement.body)
    after: dict[str, ast.stmt] = {}
    for later in rest:
        if any(isinstance(one, ast.With) and _tape(facts, one) for one in ast.walk(later)):
            return
        for call in ast.walk(later):
            if (
                isinstance(call, ast.Call)
                and isinstance(call.func, ast.Attribute)
                and call.func.attr == "gradient"
                and isinstance(call.func.value, ast.Name)
                and call.func.value.id == tape
                and call.args
                and isinstance(call.args[0], ast.Name)
            ):
                loss = call.args[0].id
                made = after.get(loss)
                if made is not None:
                    yield facts.finding(
                        made.lineno,
                        Fault.LOSS,
                        Severity.CRITICAL,
                        0.95,
                        f"{loss} is computed outside the tape, which has not recorded it: its gradients are None, and nothing is trained.",
                        "Compute it within the tape's block.",
                        _moved_in(facts, statement, made, recorded),
                    )
        if isinstance(later, ast.Assign | ast.AugAssign):
            after |= dict.fromkeys(_stores([later]), later)


def _moved_in(facts: Facts, block: ast.With, made: ast.stmt, recorded: set[str]) -> list[Edit]:
    last = block.body[-1]
    used = {one.id for one in ast.walk(made) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}
    if (
        made.lineno != (made.end_lineno or 0)
        or not used & recorded
        or facts.source.place(last.lineno)[0] != facts.source.place(made.lineno)[0]
    ):
        return []
    indent = " " * last.col_offset
    own = facts.spans.text(made)
    below = facts.spans.without_rows(made.lineno, made.lineno)
    end = facts.spans.replace(last, "")
    return [Edit(end.part, end.end, end.end, f"\n{indent}{own}"), below]


def _inside(facts: Facts, statement: ast.With) -> Iterator[Finding]:
    for node in ast.walk(statement):
        if (
            (
                isinstance(node, ast.Assign)
                and isinstance(node.value, ast.Call)
                and isinstance(node.value.func, ast.Attribute)
            )
            and node.value.func.attr == "numpy"
            and any(isinstance(one, ast.Name) and one.id in _loses(statement) for one in node.targets)
        ):
            yield facts.finding(
                node.lineno,
                Fault.LOSS,
                Severity.HIGH,
                0.85,
                "numpy() leaves the tape: what is computed from it has no gradient.",
                "Stay with tensors until the gradient is taken.",
            )


def _loses(statement: ast.With) -> set[str]:
    """Names that a loss within the block is computed from."""
    return {
        one.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Assign)
        and any(isinstance(target, ast.Name) and "loss" in target.id.lower() for target in node.targets)
        for one in ast.walk(node.value)
        if isinstance(one, ast.Name)
    }


def _optimizers(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for call in facts.calls:
        if id(call.node) in done:
            continue
        if meaning(call.name).startswith("keras.optimizers.") and call.loops and meaning(call.name).count(".") == 2:
            applied = [
                one
                for one in facts.calls
                if one.method in ("apply_gradients", "apply")
                and isinstance(one.receiver, Made)
                and one.receiver.call.node is call.node
                and set(map(id, call.loops)) <= set(map(id, one.loops))
            ]
            innermost = call.loops[-1]
            if any(one.loops and one.loops[-1] is innermost for one in applied):
                done.add(id(call.node))
                yield facts.finding(
                    call,
                    Fault.OPTIMIZER,
                    Severity.HIGH,
                    0.9,
                    "The optimizer is made anew in each turn of the loop: its moments and its count of steps begin at 0 every time.",
                    "Make it once, above the loop.",
                )
        if call.method == "apply_gradients" and call.call_node.args and not call.name:
            done.add(id(call.node))
            yield from _applied(facts, call)


def _applied(facts: Facts, call: Call) -> Iterator[Finding]:
    value = call.args[0]
    node = call.call_node.args[0]
    if isinstance(call.receiver, Made) and isinstance(call.receiver.call.function, Class):
        return  # an optimizer of the script's own
    if isinstance(value, Made) and value.call.method == "gradient":
        source = value.call.call_node.args[1] if len(value.call.call_node.args) > 1 else None
        written = facts.spans.text(source) if source is not None else "variables"
        yield facts.finding(
            call,
            Fault.OPTIMIZER,
            Severity.HIGH,
            0.95,
            "apply_gradients wants pairs of gradient and variable, and gets gradients alone: TypeError.",
            "Zip them with the variables.",
            [facts.spans.replace(node, f"zip({facts.spans.text(node)}, {written})")],
        )
    elif isinstance(value, Made) and value.call.name == "zip" and len(value.call.args) == 2:
        first, second = value.call.args
        taken = first.call if isinstance(first, Made) and first.call.method == "gradient" else None
        sources = (taken.args[1] if taken is not None and len(taken.args) > 1 else None, second)
        models = [facts.model_of(one.of) for one in sources if isinstance(one, Attribute) and "rainable" in one.name]
        if taken is not None and len(models) == 2 and None not in models and models[0] is not models[1]:
            yield facts.finding(
                taken,
                Fault.OPTIMIZER,
                Severity.HIGH,
                0.93,
                "The gradient is taken for the variables of one model and given to those of another.",
                "Take it for the variables that it is given to.",
            )
        if isinstance(second, Made) and second.call.method == "gradient":
            pair = value.call.call_node
            edits = [
                facts.spans.replace(pair.args[0], facts.spans.text(pair.args[1])),
                facts.spans.replace(pair.args[1], facts.spans.text(pair.args[0])),
            ]
            yield facts.finding(
                call,
                Fault.OPTIMIZER,
                Severity.HIGH,
                0.95,
                "apply_gradients wants (gradient, variable), and gets (variable, gradient).",
                "Turn the two round.",
                edits,
            )


def _calls(facts: Facts) -> Iterator[Finding]:
    """The model called in a tape without training=True, where that makes a difference."""
    done: set[int] = set()
    for call in facts.calls:
        model = facts.model_of(call.function if isinstance(call.function, Made) else None)
        if model is None or id(call.node) in done or not any(_is_tape(value) for value in call.contexts):
            continue
        done.add(id(call.node))
        apart = _apart(model)
        if (
            apart is None
            or any("train" in key for key in call.keywords)
            or len(call.args) > 1
            or call.spread
            or not _trained_on(facts, call)
        ):
            continue
        yield facts.finding(
            call,
            Fault.REGULARISATION,
            Severity.HIGH if "BatchNorm" in apart else Severity.MEDIUM,
            0.85,
            f"The model has {apart.rpartition('.')[2]}, and is called in a training step without training=True: the layer works as in prediction.",
            "Say training=True.",
            [facts.spans.add_argument(call.call_node, "training=True")],
        )


def _turned_round(facts: Facts) -> Iterator[Finding]:
    """A loss given the predictions first."""
    done: set[int] = set()
    for call in facts.calls:
        made = call.function.call.name if isinstance(call.function, Made) else call.name
        if (
            not meaning(made).startswith("keras.losses.")
            or snake(made) not in PROBABILITY_LOSSES
            or len(call.args) < 2
            or id(call.node) in done
        ):
            continue
        if isinstance(call.function, Made) or meaning(made).rpartition(".")[2][:1].islower():
            done.add(id(call.node))
            first, second = (_is_output(facts, value) for value in call.args[:2])
            turned = all(
                pattern.search(facts.spans.text(node))
                for pattern, node in zip((_PREDICTED, _TRUE), call.call_node.args, strict=False)
            )
            if (first and not second) or turned:
                nodes = call.call_node.args
                edits = [
                    facts.spans.replace(nodes[0], facts.spans.text(nodes[1])),
                    facts.spans.replace(nodes[1], facts.spans.text(nodes[0])),
                ]
                yield facts.finding(
                    call,
                    Fault.LOSS,
                    Severity.HIGH,
                    0.9,
                    "A loss of Keras takes the truth first, and gets the model's output in its place.",
                    "Turn the two round.",
                    edits,
                )


def _is_output(facts: Facts, value: Value) -> bool:
    return (
        isinstance(value, Made)
        and isinstance(value.call.function, Made)
        and facts.model_of(value.call.function) is not None
    )


def _is_tape(value: Value) -> bool:
    return isinstance(value, Made) and meaning(value.call.name) == "tensorflow.GradientTape"


def _apart(model: Model) -> str | None:
    """The layer of a model that works in another way in training; batch normalisation before others."""
    if model.kind == "application" and "VGG" not in model.call.name:
        return "keras.layers.BatchNormalization"
    found = [name for layer in model.layer_calls() if (name := layer_name(layer)) in _TRAINS_APART]
    return min(found, key=lambda name: "BatchNorm" not in name, default=None)


def _trained_on(facts: Facts, call: Call) -> bool:
    """Whether the variables of this model are what the gradient is taken for."""
    model = facts.model_of(call.function)
    for one in facts.calls:
        if one.method == "gradient" and len(one.args) > 1:
            for value in ancestors(one.args[1]):
                if facts.model_of(value) is model and model is not None:
                    return True
    return False


RULE = Rule(_run)
