"""A window that holds the value that is to be predicted.

Why: a slice ends before its last index. A window that goes one further holds the target: the model copies it, and is worth nothing where
it is not known yet.
Example: `x.append(series[i - 60 : i + 1])` and `y.append(series[i])`; `ds.map(lambda w: (w, w[-1]))`.
Fix: end the window in front of the target: `series[i - 60 : i]`, `(w[:-1], w[-1])`.
Source: Kapoor & Narayanan, "Leakage and the reproducibility crisis" (Patterns 2023): L3.1, temporal leakage.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.checks.fixes.script_patch import Edit
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule

Terms = Counter[str]
"""A sum: how often each name stands in it; "" for the number."""


def _run(facts: Facts) -> Iterator[Finding]:
    for loop in facts.nodes(ast.For):
        appended = [_appended(one) for one in loop.body]
        cuts = [one for one in appended if one is not None]
        for window, target in pairwise(cuts):
            edits = _beyond(facts, window, target)
            if edits is not None:
                yield _finding(facts, window.lineno, edits)
    for function in facts.nodes(ast.Lambda):
        pair = function.body
        if not isinstance(pair, ast.Tuple) or len(pair.elts) != 2 or len(function.args.args) != 1:
            continue
        name = function.args.args[0].arg
        whole, last = pair.elts
        if isinstance(whole, ast.Name) and whole.id == name and ast.unparse(last) in (f"{name}[-1]", f"{name}[-1:]"):
            yield _finding(facts, whole.lineno, [facts.spans.replace(whole, f"{name}[:-1]")])


def _finding(facts: Facts, line: int, edits: list[Edit]) -> Finding:
    return facts.finding(
        line,
        Fault.DATA,
        Severity.HIGH,
        0.9,
        "The window holds the value that is to be predicted: the model copies it.",
        "End the window in front of the target.",
        edits,
    )


def _appended(statement: ast.stmt) -> ast.Subscript | None:
    """What `list.append(series[…])` appends."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr != "append":
        return None
    return call.args[0] if len(call.args) == 1 and isinstance(call.args[0], ast.Subscript) else None


def _beyond(facts: Facts, window: ast.Subscript, target: ast.Subscript) -> list[Edit] | None:
    """The patch for `series[a:b]` beside `series[t]` with a <= t < b of the same column; None for others."""
    if ast.unparse(window.value) != ast.unparse(target.value):
        return None
    cut, columns = _parts(window.slice)
    row, column = _parts(target.slice)
    if not isinstance(cut, ast.Slice) or cut.lower is None or cut.upper is None or isinstance(row, ast.Slice):
        return None
    if columns is not None and column != columns and columns not in (":", f":, {column}"):
        return None
    first, end, at = _terms(cut.lower), _terms(cut.upper), _terms(row)
    if first is None or end is None or at is None:
        return None
    over = _number(_minus(end, at))
    inside = _minus(at, first)
    if over is None or over < 1 or (set(inside) == {""} and inside[""] < 0):
        return None
    return [facts.spans.replace(cut.upper, facts.spans.text(row))] if isinstance(row, ast.Name | ast.BinOp) else []


def _parts(index: ast.expr) -> tuple[ast.expr, str | None]:
    if isinstance(index, ast.Tuple) and index.elts:
        return index.elts[0], ", ".join(ast.unparse(one) for one in index.elts[1:])
    return index, None


def _terms(node: ast.expr) -> Terms | None:
    """A sum of names and whole numbers."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return Counter({"": node.value})
    if isinstance(node, ast.Name | ast.Attribute):
        return Counter({ast.unparse(node): 1})
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        left, right = _terms(node.left), _terms(node.right)
        if left is None or right is None:
            return None
        return _minus(left, right) if isinstance(node.op, ast.Sub) else _minus(left, _minus(Counter(), right))
    return None


def _minus(one: Terms, other: Terms) -> Terms:
    found = Counter(one)
    found.subtract(other)
    return Counter({name: count for name, count in found.items() if count})


def _number(terms: Terms) -> int | None:
    """The number that a sum is; None where a name is left in it."""
    return terms[""] if set(terms) <= {""} else None


RULE = Rule(_run)
