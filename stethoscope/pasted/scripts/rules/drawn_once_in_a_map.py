"""Randomness of Python in a function of a dataset.

Why: `map` traces its function once, into a graph. What Python or NumPy draws is drawn then, and is the same for every row and every epoch.
Example: `def augment(image): return image if np.random.rand() > 0.5 else tf.image.flip_left_right(image)` and `ds.map(augment)`.
Fix: draw with `tf.random.uniform(())` and choose with `tf.cond`.
Source: tensorflow.org/guide/function ("Executing Python side effects"); tensorflow.org/guide/data.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.checks.fixes.script_patch import Edit
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Call, Function, Value, calls_behind

_OF_PYTHON = ("np.random.", "numpy.random.", "random.")
_AS_PYTHON = ("py_function", "numpy_function")


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for call in facts.methods("map"):
        function = call.args[0] if call.args else None
        if not isinstance(function, Function) or not _of_dataset(call):
            continue
        for node in _drawn(function.node):
            if id(node) in done:
                continue
            done.add(id(node))
            yield facts.finding(
                node.lineno,
                Fault.DATA,
                Severity.HIGH,
                0.9,
                f"{ast.unparse(node.func)[:40]} is drawn once, when map traces the function: it is the same for every row.",
                "Draw with tf.random.",
                _edits(facts, node),
            )


def _of_dataset(call: Call) -> bool:
    """Whether this is `map` of a dataset, and not of a column or a pool."""
    if "num_parallel_calls" in call.keywords:
        return True
    return any(
        one.name.startswith(("tensorflow.data.", "tensorflow_datasets."))
        or one.name.endswith("_dataset_from_directory")
        for one in _behind(call.receiver)
    )


def _behind(value: Value | None) -> Iterator[Call]:
    return iter(()) if value is None else calls_behind(value)


def _drawn(function: ast.AST) -> Iterator[ast.Call]:
    nodes = [one for one in ast.walk(function) if isinstance(one, ast.Call)]
    if any(ast.unparse(one.func).endswith(_AS_PYTHON) for one in nodes):
        return
    for node in nodes:
        name = ast.unparse(node.func)
        if name.startswith(_OF_PYTHON) and not name.endswith(("seed", "default_rng", "RandomState")):
            yield node


def _edits(facts: Facts, node: ast.Call) -> list[Edit]:
    """One number from 0 to 1, drawn by TensorFlow."""
    one_number = ast.unparse(node) in (
        "np.random.rand()",
        "np.random.random()",
        "random.random()",
        "np.random.uniform()",
    )
    known = any(use.imported and use.bound == "tf" for use in facts.uses)
    return [facts.spans.replace(node, "tf.random.uniform(())")] if one_number and known else []


RULE = Rule(_run)
