"""A loss of one's own that has no gradient, or runs into infinity.

Why: NumPy does not work on tensors of a training step; `argmax`, `round` and comparisons have no gradient, so Keras says "No gradients
provided for any variable"; the logarithm of 0 is minus infinity and the loss NaN.
Example: `def loss(y, p): return np.mean((y - p) ** 2)`; `K.log(p)` without a bound.
Fix: operations of `keras.ops` or `tf`; a loss that is smooth; `ops.log(ops.clip(p, 1e-7, 1.0))`.
Source: raised by Keras 3.15; tensorflow.org/guide/autodiff; Zhang et al., "Detecting numerical bugs in neural network architectures"
(FSE 2020).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Function, Ref

_ENDS = frozenset({"argmax", "argmin", "round", "floor", "ceil", "sign", "greater", "less", "equal"})
_NUMPY_ON_TENSORS = frozenset(
    {
        "mean",
        "sum",
        "square",
        "log",
        "exp",
        "abs",
        "sqrt",
        "power",
        "maximum",
        "minimum",
        "dot",
        "clip",
        "where",
        "array",
        "log10",
        "max",
        "min",
    }
)


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for _, call, _, _ in facts.compiles():
        function = call.argument("loss", 1)
        if (
            not isinstance(function, Function)
            or not isinstance(function.node, ast.FunctionDef)
            or id(function.node) in done
        ):
            continue
        done.add(id(function.node))
        names = {one.arg for one in function.node.args.args}
        for node in ast.walk(function.node):
            if (
                not isinstance(node, ast.Call)
                or not isinstance(node.func, ast.Attribute)
                or not isinstance(node.func.value, ast.Name)
            ):
                continue
            root = function.scope.find(node.func.value.id)
            if (
                isinstance(root, Ref)
                and root.name == "numpy"
                and node.func.attr in _NUMPY_ON_TENSORS
                and _reads(node, names, function.node)
            ):
                yield facts.finding(
                    node.lineno,
                    Fault.LOSS,
                    Severity.HIGH,
                    0.93,
                    f"{facts.spans.text(node.func)} does not work on the tensors of a training step: fit raises NotImplementedError.",
                    "Use keras.ops.",
                )
        for node in ast.walk(function.node):
            if isinstance(node, ast.Return) and node.value is not None:
                yield from _returned(facts, function.node, node.value, names)


def _reads(node: ast.AST, names: set[str], function: ast.FunctionDef) -> bool:
    known = set(names)
    for statement in function.body:
        if isinstance(statement, ast.Assign) and any(
            isinstance(one, ast.Name) and one.id in known for one in ast.walk(statement.value)
        ):
            known |= {one.id for target in statement.targets for one in ast.walk(target) if isinstance(one, ast.Name)}
    return any(isinstance(one, ast.Name) and one.id in known for one in ast.walk(node))


def _returned(facts: Facts, function: ast.FunctionDef, value: ast.expr, names: set[str]) -> Iterator[Finding]:
    """The prediction goes through an operation without a gradient, and through nothing else."""
    prediction = function.args.args[1].arg if len(function.args.args) > 1 else ""
    nodes = [value, *(one.value for one in function.body if isinstance(one, ast.Assign))]
    uses = [one for node in nodes for one in ast.walk(node) if isinstance(one, ast.Name) and one.id == prediction]
    ended = [
        call
        for node in nodes
        for call in ast.walk(node)
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr in _ENDS
        and any(isinstance(one, ast.Name) and one.id == prediction for one in ast.walk(call))
    ]
    within = {id(one) for call in ended for one in ast.walk(call)}
    if prediction and uses and ended and all(id(one) in within for one in uses):
        yield facts.finding(
            ended[0].lineno,
            Fault.LOSS,
            Severity.CRITICAL,
            0.9,
            f"The prediction goes through {ended[0].func.attr} alone, which has no gradient: nothing can be trained by this loss.",  # type: ignore[attr-defined]
            "Use a smooth loss, and this as a metric.",
        )


RULE = Rule(_run)
