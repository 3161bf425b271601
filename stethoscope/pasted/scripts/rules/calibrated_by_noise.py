"""A quantised model is calibrated by random numbers.

Why: the converter takes the range of each activation from what the representative data set yields. Noise reaches other ranges than pictures
do: the model in 8 bits loses accuracy, and nothing says so.
Example: `yield [np.random.rand(1, 224, 224, 3).astype(np.float32)]`.
Fix: yield some hundred rows of the training data, prepared as for the training.
Source: ai.google.dev/edge/litert/models/post_training_quantization (full integer quantization: "a few hundred samples").
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Function, Made, Value

_NOISE = re.compile(
    r"(?:np|numpy)\.random\.(?:rand|randn|random|random_sample|uniform|normal|randint)\(|tf\.random\.(?:uniform|normal)\("
)


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for assigned in facts.assignments:
        function = _function(assigned.value) if assigned.attribute == "representative_dataset" else None
        if function is None or id(function.node) in done:
            continue
        done.add(id(function.node))
        for node in ast.walk(function.node):
            if isinstance(node, ast.Yield) and node.value is not None:
                made = _NOISE.search(_written(function.node, node.value))
                if made is not None:
                    yield facts.finding(
                        node.lineno,
                        Fault.DEPLOYMENT,
                        Severity.MEDIUM,
                        0.9,
                        "The ranges of a model in 8 bits are taken from random numbers: they are not those of the data it will read.",
                        "Yield rows of the training data, prepared as for the training.",
                    )


def _function(value: Value) -> Function | None:
    if isinstance(value, Made):
        value = value.call.args[0] if value.call.args else value
    return value if isinstance(value, Function) else None


def _written(function: ast.AST, value: ast.expr) -> str:
    """An expression, with what the names in it are given in the function."""
    names = {one.id for one in ast.walk(value) if isinstance(one, ast.Name)}
    behind = [
        ast.unparse(node.value)
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and any(ast.unparse(one) in names for one in node.targets)
    ]
    return " ".join([ast.unparse(value), *(one for one in behind if "[" not in one.partition("(")[0])])


RULE = Rule(_run)
