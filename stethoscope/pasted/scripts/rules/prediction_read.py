"""Predictions read in a way that their model does not give them.

Why: `argmax` over one sigmoid unit is 0 for every row. A generator that shuffles gives rows in another order than its `classes`, so the
two do not belong together and every score made of them is chance.
Example: `np.argmax(model.predict(x), axis=1)` with `Dense(1, activation="sigmoid")`; `model.predict(test_gen)` beside `test_gen.classes`
without `shuffle=False`.
Fix: `(p > 0.5)`; `shuffle=False` for whatever is predicted.
Source: stackoverflow.com/questions/68836551; stackoverflow.com/questions/53514495; tensorflow.org/api_docs/python/tf/keras/preprocessing/image/ImageDataGenerator.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.checks.fixes.script_patch import Edit
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Call, Made, Value, is_const, number

_FLOWS = ("flow_from_directory", "flow_from_dataframe", "flow")
_AUGMENTS = frozenset(
    {
        "rotation_range",
        "width_shift_range",
        "height_shift_range",
        "shear_range",
        "zoom_range",
        "horizontal_flip",
        "vertical_flip",
        "brightness_range",
        "channel_shift_range",
    }
)


def _run(facts: Facts) -> Iterator[Finding]:
    yield from _argmax(facts)
    yield from _order(facts)
    yield from _augmented(facts)


def _argmax(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for call in facts.calls:
        value: Value | None = None
        if call.name in ("numpy.argmax", "tensorflow.argmax", "tensorflow.math.argmax") and call.args:
            value = call.args[0]
        elif call.method == "argmax" and call.receiver is not None:
            value = call.receiver
        if not isinstance(value, Made) or value.call.method != "predict" or id(call.node) in done:
            continue
        model = facts.model_of(value.call.receiver)
        head = model.head if model is not None else None
        if head is None or head.units != 1 or not head.dense:
            continue
        done.add(id(call.node))
        node = call.call_node.args[0] if call.name else None
        inner = facts.spans.text(node) if node is not None else ""
        yield facts.finding(
            call,
            Fault.METRIC,
            Severity.HIGH,
            0.96,
            f"The model gives one number for each row (line {facts.source.where(head.layer.line).rpartition(':')[2]}), and argmax over one number is 0: every row is taken for class 0.",
            "Compare with 0.5.",
            [facts.spans.replace(call.call_node, f'({inner} > 0.5).astype("int32")')] if inner else [],
        )


def _order(facts: Facts) -> Iterator[Finding]:
    compared = {
        ast.unparse(one.value)
        for one in ast.walk(facts.parsed.tree)
        if isinstance(one, ast.Attribute) and one.attr in ("classes", "labels", "filenames")
    }
    done: set[int] = set()
    for model in facts.models:
        for call in model.calls("predict", "predict_generator"):
            value = call.argument("x", 0)
            node = call.call_node.args[0] if call.call_node.args else None
            if (
                not isinstance(value, Made)
                or value.call.method not in _FLOWS
                or node is None
                or id(value.call.node) in done
            ):
                continue
            shuffle = value.call.argument("shuffle")
            if (
                (shuffle is not None and not is_const(shuffle, True))
                or facts.spans.text(node) not in compared
                or value.call.spread
            ):
                continue
            done.add(id(value.call.node))
            yield facts.finding(
                value.call,
                Fault.VALIDATION,
                Severity.HIGH,
                0.92,
                f"This generator shuffles, and line {facts.source.where(call.line).rpartition(':')[2]} holds what is predicted from it against its classes, which stand in the order of the files.",
                "Say shuffle=False.",
                _unshuffled(facts, value.call),
            )


def _unshuffled(facts: Facts, call: Call) -> list[Edit]:
    keyword = next((one for one in call.call_node.keywords if one.arg == "shuffle"), None)
    if keyword is not None:
        return [facts.spans.replace(keyword.value, "False")]
    return [facts.spans.add_argument(call.call_node, "shuffle=False")]


def _augmented(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for model in facts.models:
        for call in model.calls("fit", "evaluate", "predict", "fit_generator"):
            value = call.argument("validation_data") if call.method.startswith("fit") else call.argument("x", 0)
            if (
                not isinstance(value, Made)
                or value.call.method not in _FLOWS
                or not isinstance(value.call.receiver, Made)
            ):
                continue
            generator = value.call.receiver.call
            random = [
                name
                for name in _AUGMENTS & set(generator.keywords)
                if not is_const(generator.keywords[name], False) and number(generator.keywords[name]) != 0
            ]
            if not generator.name.endswith("ImageDataGenerator") or not random or id(value.call.node) in done:
                continue
            done.add(id(value.call.node))
            yield facts.finding(
                value.call,
                Fault.VALIDATION,
                Severity.MEDIUM,
                0.88,
                f"The rows that are validated are changed at random ({', '.join(sorted(random)[:3])}), so their score is another one each time, and too low.",
                "Use a generator of its own that only scales.",
            )


RULE = Rule(_run)
