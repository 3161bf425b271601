"""The target stays among the columns that the model reads.

Why: a model that reads its target copies it: the score is nearly perfect, and worth nothing where the target is not known yet.
Example: `y = df["price"]` and `X = df.values`.
Fix: `X = df.drop(columns=["price"])`.
Source: Kapoor & Narayanan, "Leakage and the reproducibility crisis" (Patterns 2023): L1.1; Kaufman et al., "Leakage in data mining" (2012).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.checks.fixes.script_patch import Edit
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import (
    Attribute,
    Call,
    Const,
    Cut,
    Element,
    Items,
    Made,
    Value,
    ancestors,
    plain,
    text,
)

_OF_TARGETS = frozenset(
    {"to_numpy", "astype", "map", "replace", "reshape", "ravel", "array", "asarray", "to_categorical"}
)
_ALL_COLUMNS = frozenset(
    {"to_numpy", "astype", "copy", "fillna", "reset_index", "dropna", "get_dummies", "array", "asarray"}
)
_FITS = frozenset({"fit_transform", "transform"})
_MOST_STEPS = 20


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for call in facts.calls:
        split = call.name.endswith("train_test_split")
        if not split and not (call.method == "fit" and facts.model_of(call.receiver) is not None):
            continue
        x, y = call.argument("x", 0), call.argument("y", 1)
        target = None if y is None else _column(y)
        if target is None or x is None or call.spread:
            continue
        table, column = target
        taken = _held(x, table, column, call.node)
        if taken is None or taken.lineno in done or _taken_out(facts, table, column):
            continue
        done.add(taken.lineno)
        yield facts.finding(
            taken.lineno,
            Fault.DATA,
            Severity.HIGH,
            0.9,
            f"{column!r} is the target, and stays among the columns that the model reads: it copies it.",
            f"Leave it out: drop(columns=[{column!r}]).",
            _edits(facts, taken, column),
        )


def _column(value: Value) -> tuple[Value, str] | None:
    """The table and the column that a target comes from."""
    for _ in range(_MOST_STEPS):
        if isinstance(value, Attribute) and value.name == "values":
            value = value.of
        elif isinstance(value, Made) and (value.call.method in _OF_TARGETS):
            inner = value.call.receiver or (value.call.args[0] if value.call.args else None)
            if inner is None:
                return None
            value = inner
        elif isinstance(value, Element) and isinstance(value.key, Cut):
            value = value.of
        elif isinstance(value, Element) and (given := _resampled(value)) is not None:
            value = given
        elif isinstance(value, Element):
            key = text(value.key) if isinstance(value.key, Const) else None
            held = value.key.items if isinstance(value.key, Items) else []
            key = text(held[0]) if len(held) == 1 else key
            return None if key is None or not _is_table(value.of) else (value.of, key)
        else:
            return None
    return None


def _resampled(value: Element) -> Value | None:
    """What `x, y = sampler.fit_resample(x, y)` was given in this place."""
    call = value.of.call if isinstance(value.of, Made) else None
    place = value.key.value if isinstance(value.key, Const) else None
    if call is None or call.method not in ("fit_resample", "fit_sample") or place not in (0, 1) or len(call.args) < 2:
        return None
    return call.args[int(place)]


def _is_table(value: Value) -> bool:
    return any(isinstance(one, Made) and one.call.name.startswith("pandas.") for one in ancestors(value))


def _held(value: Value, table: Value, column: str, at: ast.AST) -> ast.expr | None:
    """The expression that takes all columns of the table; None where none does, or that is not certain."""
    node = at if isinstance(at, ast.expr) else None
    for _ in range(_MOST_STEPS):
        if value is table:
            return node
        if isinstance(value, Attribute) and value.name == "values":
            node, value = value.node or node, value.of
        elif isinstance(value, Element) and isinstance(value.key, Cut):
            value = value.of
        elif isinstance(value, Element) and (given := _resampled(value)) is not None:
            value = given
        elif isinstance(value, Element) and isinstance(value.key, Items):
            names = plain(value.key)
            return (value.node or node) if value.of is table and isinstance(names, list) and column in names else None
        elif isinstance(value, Made):
            call = value.call
            node = call.call_node
            if call.method in _FITS and call.args:
                value = call.args[0]
            elif call.method == "drop" and call.receiver is not None and not _drops(call, column):
                value = call.receiver
            elif call.method in _ALL_COLUMNS:
                inner = call.receiver if call.receiver is not None else call.args[0] if call.args else None
                if inner is None or (call.method == "get_dummies" and call.argument("columns") is None):
                    return None
                value = inner
            else:
                return None
        else:
            return None
    return None


def _drops(call: Call, column: str) -> bool:
    """Whether it may take the column out."""
    given = call.argument("columns") or call.argument("labels", 0)
    names = plain(given)
    return names is None or column in (names if isinstance(names, list) else [names])


def _taken_out(facts: Facts, table: Value, column: str) -> bool:
    """Whether the column is removed in place, or the table is changed in a way that may."""
    return any(
        call.receiver is table
        and call.method in ("drop", "pop")
        and ("inplace" in call.keywords or call.method == "pop")
        for call in facts.calls
    ) or any(
        isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant) and target.slice.value == column
        for node in facts.nodes(ast.Delete)
        for target in node.targets
    )


def _edits(facts: Facts, taken: ast.expr, column: str) -> list[Edit]:
    quoted = f'"{column}"' if '"' not in column else repr(column)
    if isinstance(taken, ast.Attribute):
        return [facts.spans.replace(taken.value, f"{facts.spans.text(taken.value)}.drop(columns=[{quoted}])")]
    names = next((one.value for one in getattr(taken, "keywords", ()) if one.arg == "columns"), None)
    if isinstance(names, ast.List) and names.elts and ast.unparse(getattr(taken, "func", taken)).endswith(".drop"):
        last = names.elts[-1]
        return [facts.spans.replace(last, f"{facts.spans.text(last)}, {quoted}")]
    return []


RULE = Rule(_run)
