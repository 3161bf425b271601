"""Python in a function that TensorFlow traces.

Why: a `tf.function` runs its Python once, when it is traced. A list that is filled in it gets one symbolic tensor, `np.random` gives one
number for ever, `print` prints once; `.numpy()` is not there at all: AttributeError.
Example: `@tf.function def step(x): losses.append(loss)`.
Fix: return the tensor; `tf.random`; `tf.print`.
Source: tensorflow.org/guide/function ("Executing Python side effects"); stackoverflow.com/questions/56964963; raised by TensorFlow 2.21.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule


def _run(facts: Facts) -> Iterator[Finding]:
    for node in ast.walk(facts.parsed.tree):
        if isinstance(node, ast.FunctionDef) and any(_traces(one) for one in node.decorator_list):
            yield from _within(facts, node)


def _traces(decorator: ast.expr) -> bool:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    eager = any("eager" in (one.arg or "") for one in getattr(decorator, "keywords", ()))
    return ast.unparse(called) in ("tf.function", "tensorflow.function") and not eager


def _own(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """What stands in a function, and not in functions within it."""
    queue: list[ast.AST] = [*function.body]
    while queue:
        node = queue.pop(0)
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            queue.extend(ast.iter_child_nodes(node))


def _within(facts: Facts, function: ast.FunctionDef) -> Iterator[Finding]:
    nodes = list(_own(function))
    local = {one.arg for one in (*function.args.args, *function.args.kwonlyargs)}
    local |= {one.id for one in nodes if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    for node in nodes:
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        owner = node.func.value if isinstance(node.func, ast.Attribute) else None
        if called.endswith(".numpy") and not node.args:
            yield facts.finding(
                node.lineno,
                Fault.DATA,
                Severity.HIGH,
                0.9,
                "numpy() is called in a tf.function, where tensors are symbols: AttributeError.",
                "Return the tensor, and take numpy() outside.",
            )
        elif called.endswith(".append") and isinstance(owner, ast.Name) and owner.id not in local:
            yield facts.finding(
                node.lineno,
                Fault.DATA,
                Severity.MEDIUM,
                0.88,
                f"{owner.id} is filled once, when the function is traced, and with a symbol that has no value.",
                "Return the value, and append it outside.",
            )
        elif called.startswith(("np.random.", "numpy.random.", "random.")) and not called.endswith("seed"):
            yield facts.finding(
                node.lineno,
                Fault.DATA,
                Severity.MEDIUM,
                0.85,
                f"{called[:40]} is drawn once, when the function is traced, and is the same in every call.",
                "Use tf.random.",
            )
        elif called == "print" and any(not isinstance(one, ast.Constant) for one in node.args):
            yield facts.finding(
                node.lineno,
                Fault.DATA,
                Severity.LOW,
                0.85,
                "print runs once, when the function is traced, and shows a symbol.",
                "Use tf.print.",
                [facts.spans.replace(node.func, "tf.print")] if not node.keywords else [],
            )


RULE = Rule(_run)
