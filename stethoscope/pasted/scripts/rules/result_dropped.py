"""A result that nobody takes.

Why: `astype`, `reshape`, `to_categorical` and the steps of a `tf.data.Dataset` give a new object and leave the old one as it is. As a
statement of their own they do nothing; the data is trained on unscaled, unshuffled, unbatched. So does a layer that is made and never
added, or called and its tensor dropped.
Example: `x_train.astype("float32")`, `dataset.shuffle(1000)`, `layers.Dropout(0.5)(x)` as whole lines.
Fix: assign the result.
Source: tensorflow.org/guide/data ("transformations return a new dataset"); stackoverflow.com/questions/53514495; NumPy's documentation of
`ndarray.astype`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.names import meaning
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.symbolic import is_symbolic
from stethoscope.pasted.scripts.values import Call, Made, Operation, Value, number

_OF_ARRAYS = frozenset({"astype", "reshape"})
_FUNCTIONS = frozenset(
    {
        "numpy.expand_dims",
        "numpy.reshape",
        "numpy.squeeze",
        "numpy.transpose",
        "numpy.concatenate",
        "numpy.clip",
        "keras.utils.to_categorical",
        "keras.utils.normalize",
        "tensorflow.cast",
        "tensorflow.reshape",
        "tensorflow.expand_dims",
        "tensorflow.one_hot",
    }
)
_OF_DATASETS = frozenset(
    {"map", "batch", "shuffle", "repeat", "prefetch", "cache", "filter", "take", "skip", "with_options"}
)
_STARTS = (
    "tensorflow.data.",
    "keras.utils.image_dataset_from_directory",
    "keras.utils.text_dataset_from_directory",
    "keras.preprocessing.image_dataset_from_directory",
    "tensorflow_datasets.load",
    "keras.utils.timeseries_dataset_from_array",
)


def _run(facts: Facts) -> Iterator[Finding]:
    shown = _shown(facts)
    done: set[int] = set()
    for statement, value, step in facts.dropped:
        if id(statement) in done or statement.lineno in shown or step.guarded:
            continue
        done.add(id(statement))
        if isinstance(value, Operation) and value.operator == "Div" and number(value.right) in (255.0, 127.5):
            left = statement.value.left if isinstance(statement.value, ast.BinOp) else None
            yield _finding(facts, statement, step.line, "the division", left)
            continue
        if not isinstance(value, Made) or not isinstance(statement.value, ast.Call):
            continue
        call = value.call
        if "out" in call.keywords or any("aises" in _opened(value) for value in call.contexts):
            continue
        name = meaning(call.name)
        receiver = statement.value.func.value if isinstance(statement.value.func, ast.Attribute) else None
        if call.receiver is not None and call.method in _OF_ARRAYS and facts.model_of(call.receiver) is None:
            yield _finding(facts, statement, step.line, call.method, receiver)
        elif name in _FUNCTIONS or (name.startswith("np.") and f"numpy.{name[3:]}" in _FUNCTIONS):
            yield _finding(
                facts,
                statement,
                step.line,
                name.rpartition(".")[2],
                statement.value.args[0] if statement.value.args else None,
            )
        elif call.method in ("fit_transform", "transform") and _prepares(facts, call):
            yield _finding(facts, statement, step.line, call.method, next(iter(statement.value.args), None))
        elif call.method in _OF_DATASETS and _is_dataset(call):
            yield _finding(facts, statement, step.line, call.method, receiver)
        elif _is_layer(call):
            yield facts.finding(
                step,
                Fault.ARCHITECTURE,
                Severity.HIGH,
                0.85,
                f"This makes a layer{' and calls it' if isinstance(call.function, Made) else ''}, and nothing takes the result: it is no part of the model.",
                "Assign the result, or add the layer with model.add.",
                [
                    facts.spans.replace(
                        statement, f"{facts.spans.text(statement.value.args[0])} = {facts.spans.text(statement)}"
                    )
                ]
                if isinstance(call.function, Made)
                and statement.value.args
                and isinstance(statement.value.args[0], ast.Name)
                else [],
            )


def _finding(facts: Facts, statement: ast.Expr, line: int, what: str, target: ast.expr | None) -> Finding:
    edits = []
    if isinstance(target, ast.Name | ast.Attribute | ast.Subscript):
        edits = [facts.spans.replace(statement, f"{facts.spans.text(target)} = {facts.spans.text(statement)}")]
    return facts.finding(
        line,
        Fault.PREPROCESSING,
        Severity.HIGH,
        0.93,
        f"The result of {what} is not taken: it changes nothing in place, so this line does nothing.",
        "Assign the result.",
        edits,
    )


def _prepares(facts: Facts, call: Call) -> bool:
    """Whether it is of scikit-learn's preprocessing, and nothing takes what it learned by another `transform`."""
    made = call.receiver.call if isinstance(call.receiver, Made) else None
    if made is None or not made.name.startswith("sklearn.preprocessing."):
        return False
    return not any(
        one.method in ("transform", "inverse_transform") and one.receiver is call.receiver and one.node is not call.node
        for one in facts.calls
    )


def _is_dataset(call: Call) -> bool:
    value = call.receiver
    for _ in range(30):
        if not isinstance(value, Made):
            return False
        if meaning(value.call.name).startswith(_STARTS):
            return True
        value = value.call.receiver
    return False


def _is_layer(call: Call) -> bool:
    made = call.function.call if isinstance(call.function, Made) else call
    name = meaning(made.name)
    own = name.removeprefix("keras.layers.")
    if not name.startswith("keras.layers.") or not own[:1].isupper() or own in ("Input", "InputLayer"):
        return False
    if call is made:
        return not call.within
    return bool(call.args) and is_symbolic(call.args[0])


def _opened(value: Value) -> str:
    """What a `with` statement opens, by name."""
    return (value.call.name or value.call.method) if isinstance(value, Made) else ""


def _shown(facts: Facts) -> set[int]:
    """Lines whose value a notebook shows, as the last of a cell: they are looked at, not lost. So are those of an interpreter."""
    if not facts.source.notebook:
        return set()
    last: dict[int, int] = {}
    for statement in facts.parsed.tree.body:
        last[facts.source.place(statement.lineno)[0].number] = statement.lineno
    return set(last.values())


RULE = Rule(_run)
