"""Numbers of words that are others in each run.

Why: Python draws anew for each process in which order a set of texts comes. Numbers made by its order mean other words after a restart: a
saved model reads nonsense.
Example: `{word: i for i, word in enumerate(set(words))}`.
Fix: `enumerate(sorted(set(words)))`, or save the numbers with the model.
Source: docs.python.org/3/using/cmdline.html (PYTHONHASHSEED); docs.python.org/3/reference/datamodel.html (object.__hash__).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule


def _run(facts: Facts) -> Iterator[Finding]:
    sets = _sets(facts)
    for node in facts.nodes(ast.Call):
        if ast.unparse(node.func) != "enumerate" or not node.args or not _is_set(node.args[0], sets):
            continue
        if not _makes_numbers(facts, node):
            continue
        given: ast.expr = node.args[0]
        if isinstance(given, ast.Name):
            given = _list_of_a_set(facts, given.id) or given
        yield facts.finding(
            given.lineno,
            Fault.DETERMINISM,
            Severity.MEDIUM,
            0.88,
            "Numbers are given in the order of a set: texts in a set come in another order in each run, and a saved model reads other words.",
            "Sort it first.",
            [facts.spans.replace(given, f"sorted({facts.spans.text(given)})")],
        )


def _sets(facts: Facts) -> set[str]:
    """Names that are a set, or a list in the order of one, and are never sorted."""
    found: set[str] = set()
    for node in facts.nodes(ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Name) and _is_set(node.value, found):
                found.add(target.id)
    text = facts.source.text
    return {
        name
        for name in found
        if not re.search(rf"\b{re.escape(name)}\.sort\(|\b{re.escape(name)}\s*=\s*(?:\w+\()*sorted\(", text)
    }


def _list_of_a_set(facts: Facts, name: str) -> ast.expr | None:
    """What makes the list of this name out of a set."""
    for node in facts.nodes(ast.Assign):
        if any(ast.unparse(one) == name for one in node.targets) and isinstance(node.value, ast.Call):
            return node.value if ast.unparse(node.value.func) == "list" else None
    return None


def _is_set(node: ast.expr, sets: set[str]) -> bool:
    if isinstance(node, ast.SetComp):
        return True
    if isinstance(node, ast.Name):
        return node.id in sets
    if isinstance(node, ast.Call):
        name = ast.unparse(node.func)
        if name in ("list", "tuple"):
            return len(node.args) == 1 and _is_set(node.args[0], sets)
        return name in ("set", "frozenset") and bool(node.args)
    return False


def _makes_numbers(facts: Facts, node: ast.Call) -> bool:
    """Whether a dict is made of it that is not written into a file."""
    holders: list[ast.DictComp | ast.Call] = [*facts.nodes(ast.DictComp), *facts.nodes(ast.Call)]
    for holder in holders:
        dictionary = isinstance(holder, ast.DictComp) or ast.unparse(holder.func) == "dict"
        if dictionary and any(one is node for one in ast.walk(holder)):
            names = [
                target.id
                for assigned in facts.nodes(ast.Assign)
                if assigned.value is holder
                for target in assigned.targets
                if isinstance(target, ast.Name)
            ]
            return not any(
                re.search(rf"(?:dump|save|savez|to_json)\w*\([^)\n]*\b{re.escape(name)}\b", facts.source.text)
                for name in names
            )
    return False


RULE = Rule(_run)
