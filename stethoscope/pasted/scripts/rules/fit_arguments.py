"""A call of `fit` that fails, or never ends.

Why: with a dataset or generator `fit` takes no `y` and no `validation_split`; a dataset has to be batched; and one that repeats for
ever needs `steps_per_epoch`, or the first epoch never ends. Labels without `y` are not there. A model has to be compiled first.
Example: `model.fit(dataset, validation_split=0.2)`, `model.fit(train_ds.repeat(), epochs=5)`, `steps_per_epoch=len(x) / batch_size`.
Fix: what the message says.
Source: keras.io/api/models/model_training_apis; raised by Keras 3.15; stackoverflow.com/questions/55731774.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.checks.fixes.script_patch import Edit
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.labels import Fed, of_pipeline
from stethoscope.pasted.scripts.models_built import Model
from stethoscope.pasted.scripts.names import meaning
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.scopes import yields
from stethoscope.pasted.scripts.splits import part_of_split
from stethoscope.pasted.scripts.values import (
    Attribute,
    Call,
    Const,
    Element,
    Function,
    Made,
    Operation,
    Ref,
    Unknown,
    Value,
    is_const,
    number,
    text,
)

_BATCHED = frozenset({"batch", "padded_batch", "ragged_batch", "bucket_by_sequence_length"})
_STARTS = (
    "tensorflow.data.Dataset.from_tensor_slices",
    "tensorflow.data.Dataset.from_generator",
    "tensorflow.data.Dataset.zip",
)


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for model in facts.models:
        for call in model.calls("fit"):
            if id(call.node) in done or call.spread:
                continue
            done.add(id(call.node))
            yield from _of_fit(facts, model, call)
        yield from _uncompiled(facts, model)
        for call in model.compiled:
            metrics = call.argument("metrics")
            if text(metrics) is not None and id(call.node) not in done:
                done.add(id(call.node))
                node = next(one.value for one in call.call_node.keywords if one.arg == "metrics")
                yield facts.finding(
                    node.lineno,
                    Fault.METRIC,
                    Severity.HIGH,
                    0.95,
                    "metrics is a text here; Keras 3 wants a list and raises ValueError.",
                    "Put it into a list.",
                    [facts.spans.replace(node, f"[{facts.spans.text(node)}]")],
                )


def _of_fit(facts: Facts, model: Model, call: Call) -> Iterator[Finding]:
    x = call.argument("x", 0)
    given = of_pipeline(x)
    dataset = any(
        meaning(step.name).startswith("tensorflow.data.") or "_dataset_from_" in step.name for step in given.pipeline
    )
    generator = any(step.method in ("flow", "flow_from_directory", "flow_from_dataframe") for step in given.pipeline)
    node = call.call_node
    if dataset or generator:
        split = next((one for one in node.keywords if one.arg == "validation_split"), None)
        if split is not None and number(call.argument("validation_split")) != 0:
            yield facts.finding(
                split.lineno,
                Fault.VALIDATION,
                Severity.HIGH,
                0.95,
                "fit takes validation_split only with arrays: with a dataset or generator it raises ValueError.",
                "Give validation_data instead.",
            )
        y = call.argument("y", 1)
        if y is not None and not is_const(y, None):
            yield facts.finding(
                call,
                Fault.LABELS,
                Severity.HIGH,
                0.93,
                "fit takes no y beside a dataset or generator, which yields the labels itself: it raises ValueError.",
                "Leave y out.",
            )
    if dataset and not any(step.method in _BATCHED for step in given.pipeline) and _plain(given):
        yield facts.finding(
            call,
            Fault.BATCH_SIZE,
            Severity.HIGH,
            0.9,
            "The dataset is not batched: the model gets single rows, whose first axis it takes for the batch.",
            "Batch the dataset.",
            _batched(facts, call),
        )
    count = call.argument("steps_per_epoch")
    if isinstance(count, Made) and count.call.name == "len" and not given.pipeline and count.call.args[:1] == (x,):
        yield facts.finding(
            next((one.value.lineno for one in node.keywords if one.arg == "steps_per_epoch"), call.line),
            Fault.EPOCHS,
            Severity.HIGH,
            0.9,
            "steps_per_epoch counts batches, and gets the number of rows: the data runs out after the first part of an epoch.",
            "Leave it out.",
            [facts.spans.remove_argument(node, one) for one in node.keywords if one.arg == "steps_per_epoch"],
        )
    for name, steps in (("x", "steps_per_epoch"), ("validation_data", "validation_steps")):
        value = x if name == "x" else call.argument(name)
        stop = call.argument(steps)
        if _endless(value) and (stop is None or is_const(stop, None)):
            yield facts.finding(
                call,
                Fault.EPOCHS,
                Severity.HIGH,
                0.93,
                f"The {'training' if name == 'x' else 'validation'} data repeats for ever, and {steps} is not given: the first epoch never ends.",
                f"Give {steps}, or leave repeat() out.",
            )
    stop = call.argument("steps_per_epoch")
    if isinstance(stop, Operation) and stop.operator == "Div":
        keyword = (
            next(one for one in node.keywords if one.arg == "steps_per_epoch")
            if "steps_per_epoch" in call.keywords
            else None
        )
        edits: list[Edit] = []
        if keyword is not None and facts.spans.text(keyword.value).count("/") == 1:
            edits = [facts.spans.replace(keyword.value, facts.spans.text(keyword.value).replace("/", "//"))]
        yield facts.finding(
            call.line if keyword is None else keyword.lineno,
            Fault.EPOCHS,
            Severity.HIGH,
            0.9,
            "steps_per_epoch is a fraction here: a division with / gives a float, and Keras 3 raises TypeError.",
            "Divide with //.",
            edits,
        )
    elif _counts_rows(stop, given, generator or dataset):
        keyword = next((one for one in node.keywords if one.arg == "steps_per_epoch"), None)
        yield facts.finding(
            call.line if keyword is None else keyword.lineno,
            Fault.EPOCHS,
            Severity.MEDIUM,
            0.85,
            "steps_per_epoch counts batches, but gets the number of rows: each epoch is as many times too long as a batch has rows.",
            "Divide by the batch size, or leave it out.",
            [] if keyword is None else [facts.spans.remove_argument(node, keyword)],
        )


def _counts_rows(value: Value | None, given: Fed, in_batches: bool) -> bool:
    """Whether a number of steps is the number of rows of what is fed in batches."""
    if not in_batches:
        return False
    if isinstance(value, Attribute) and value.name in ("samples", "n"):
        return isinstance(value.of, Made) and any(value.of.call is step for step in given.pipeline)
    if isinstance(value, Made) and value.call.name == "len" and value.call.args:
        counted = value.call.args[0]
        if isinstance(counted, Made) and any(counted.call is step for step in given.pipeline):
            return False  # a generator or dataset says its batches
        return counted is given.x or counted is given.y or _same_rows(counted, given)
    if isinstance(value, Element) and isinstance(value.of, Attribute) and value.of.name == "shape":
        return is_const(value.key, 0) and (value.of.of is given.x or value.of.of is given.y)
    if isinstance(value, Element) and isinstance(value.of, Ref) and is_const(value.key, 0):
        return any(isinstance(one, Ref) and value.of.name == f"{one.name}.shape" for one in (given.x, given.y))
    return False


def _same_rows(counted: Value, given: Fed) -> bool:
    return part_of_split(counted) is not None and part_of_split(counted) == part_of_split(given.x)


def _plain(given: Fed) -> bool:
    return (
        bool(given.pipeline)
        and meaning(given.pipeline[-1].name) in _STARTS[:1]
        and all(
            step.method in ("shuffle", "repeat", "prefetch", "cache", "map", "take", "skip")
            for step in given.pipeline[:-1]
        )
    )


def _batched(facts: Facts, call: Call) -> list[Edit]:
    node = call.call_node
    x = node.args[0] if node.args else next((one.value for one in node.keywords if one.arg == "x"), None)
    return [] if x is None else [facts.spans.replace(x, f"{facts.spans.text(x)}.batch(32)")]


def _endless(value: Value | None) -> bool:
    """Whether a dataset repeats without a count, or a function of the script yields for ever."""
    if isinstance(value, Unknown) and len(value.made_of) == 1 and isinstance(value.made_of[0], Made):
        return _yields_for_ever(value.made_of[0].call.function)
    for step in of_pipeline(value).pipeline:
        if step.method in ("take",):
            return False
        if step.method == "repeat":
            count = step.argument("count", 0)
            return count is None or (isinstance(count, Const) and count.value in (None, -1))
    return False


def _yields_for_ever(function: Value) -> bool:
    if not isinstance(function, Function) or isinstance(function.node, ast.Lambda):
        return False
    return any(
        isinstance(one, ast.While)
        and isinstance(one.test, ast.Constant)
        and bool(one.test.value)
        and yields(one.body)
        and not any(isinstance(inner, ast.Break | ast.Return) for inner in ast.walk(one))
        for one in ast.walk(function.node)
    )


def _uncompiled(facts: Facts, model: Model) -> Iterator[Finding]:
    if model.kind not in ("sequential", "functional") or model.compiled:
        return
    for call in model.calls("fit", "evaluate"):
        others = any(one.method == "compile" and facts.model_of(one.receiver) is None for one in facts.calls)
        handed_on = any(
            facts.model_of(value) is model for one in facts.calls for value in (*one.args, *one.keywords.values())
        )
        if others or handed_on or not call.reached:
            return
        yield facts.finding(
            call,
            Fault.LOSS,
            Severity.HIGH,
            0.9,
            f"The model is never compiled: {call.method} raises ValueError.",
            'Compile it first: model.compile(optimizer="adam", loss=…).',
        )
        return


RULE = Rule(_run)
