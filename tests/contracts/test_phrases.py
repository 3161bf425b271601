"""Tests assert facts: how many of them hold a phrase that people read may only fall.

A phrase is a string of four words or more in a row. Where one has to be, it is the subject of its test: one test for each family of
messages, named below with why. What else is named there only looks like one.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests.conftest import PROJECT

WORDS = 4
ALLOWED = {
    "dashboard/test_convert_parts.py::test_the_verdict_says_who_ran_it_and_how_far_it_is_off": "the family: what a conversion came to",
    "dashboard/test_pages.py::test_data_that_does_not_fit_is_a_sentence": "the family: badges of errors",
    "dashboard/test_speed_parts.py::test_the_fastest_and_the_smallest_are_named_with_their_distance_to_the_model_in_view": "the family: speed, size",
    "models/formats/test_foreign.py::test_it_is_named_with_what_to_do": "the family: what a foreign file is",
    "models/formats/test_tflite.py::test_what_does_not_fit_is_said_in_a_sentence": "the family: input of another shape",
    "logs/test_data_fingerprint.py::test_what_changed_is_said": "the family: how data has changed",
    "logs/test_dvc.py::test_results_of_older_data_are_named": "the family: why a stage is out of date",
    "compare/convert/test_runtime_refusals.py::test_a_number_of_litert_is_an_operator_with_its_layer": "what LiteRT prints, which is read here",
    "logs/runs/test_compare.py::test_csv_has_every_value_and_no_formula": "the head of a column, by which programs read the file",
}
COMPARING = {"startswith", "endswith", "search", "fullmatch", "get_by_text", "to_have_text", "to_contain_text"}
"""Calls that say what is to be read, the last ones on a page in a browser."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def longest(text: str) -> int:
    """Most words in a row. Numbers, letters, acronyms, names and what stands in quotes are none; source and commands have none."""
    if "\n" in text or " --" in text:
        return 0
    parts = re.split(r"\.[*+]|\|", re.sub(r"\\(\W)", r"\1", text))
    return max(sum(map(is_word, part.split())) for part in parts)


def is_word(token: str) -> bool:
    bare = token.strip('()[]*.,:;?!…“”"')
    return bare == "a" or bool(re.fullmatch(r"[A-Za-z][a-z]+(?:[’'-][A-Za-z]+)*", bare))


def strings(node: ast.AST) -> Iterator[str]:
    """Constants of an expression; holes of f-strings are left out, and so is what something is looked up by."""
    match node:
        case ast.Constant():
            if isinstance(node.value, str):
                yield node.value
        case ast.JoinedStr():
            yield "".join(part.value if isinstance(part, ast.Constant) else "0" for part in node.values)
        case ast.Subscript():
            yield from strings(node.value)
        case _:
            for child in ast.iter_child_nodes(node):
                yield from strings(child)


def names(node: ast.AST) -> Iterator[str]:
    """Variables that are compared themselves, not what is called with them."""
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("items", "values"):
        yield from names(node.func.value)
    elif not isinstance(node, ast.Call | ast.Subscript | ast.Attribute):
        for child in ast.iter_child_nodes(node):
            yield from names(child)


def said_by(nodes: list[ast.AST]) -> Iterator[ast.expr]:
    """What is asserted, compared, matched or looked for on a page."""
    for node in nodes:
        match node:
            case ast.Assert():
                yield node.test
            case ast.Compare():
                yield from (node.left, *node.comparators)
            case ast.Call():
                yield from (keyword.value for keyword in node.keywords if keyword.arg in ("match", "has_text"))
                if isinstance(node.func, ast.Attribute) and node.func.attr in COMPARING:
                    yield from node.args


def values(function: Function, nodes: list[ast.AST]) -> dict[str, list[ast.expr]]:
    """What a name may stand for: literals given to it here, at the top of the module, in a loop or as a parameter."""
    found: dict[str, list[ast.expr]] = {}
    for node in nodes:
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=value)
            ):
                if isinstance(value, ast.Call) and ast.unparse(value.func) == "re.compile":
                    value = value.args[0]
                if isinstance(value, ast.Constant | ast.JoinedStr | ast.List | ast.Tuple | ast.Set | ast.Dict):
                    found.setdefault(name, []).append(value)
            case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value):
                for place, name in enumerate(targets(target)):
                    found.setdefault(name, []).extend(column(value, place, len(targets(target))))
    for decorator in function.decorator_list:
        if isinstance(decorator, ast.Call) and len(decorator.args) > 1:
            parameters, cases = decorator.args[:2]
            listed = [part.strip() for text in strings(parameters) for part in text.split(",")]
            for place, name in enumerate(listed):
                found.setdefault(name, []).extend(column(cases, place, len(listed)))
    return found


def targets(node: ast.expr) -> list[str]:
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    return [part.id if isinstance(part, ast.Name) else "" for part in parts]


def column(table: ast.expr, place: int, width: int) -> list[ast.expr]:
    """One column of a table that is written out; the table itself where it has one."""
    if width == 1 or not isinstance(table, ast.List | ast.Tuple | ast.Set):
        return [table]
    rows = [row.args if isinstance(row, ast.Call) else getattr(row, "elts", []) for row in table.elts]
    return [row[place] for row in rows if place < len(row)]


def phrases(function: Function, module: ast.Module) -> set[str]:
    nodes = list(ast.walk(function))
    known, found = values(function, [*module.body, *nodes]), set()
    pending, done = list(said_by(nodes)), set()
    while pending:
        node = pending.pop()
        found |= {text for text in strings(node) if longest(text) >= WORDS}
        for name in set(names(node)) - done:
            done.add(name)
            pending += known.get(name, [])
    return found


def every_phrase() -> dict[str, set[str]]:
    """Of each function of the tests that has any."""
    found: dict[str, set[str]] = {}
    for path in sorted((PROJECT / "tests").rglob("*.py")):
        module = ast.parse(path.read_text("utf-8"))
        for node in ast.walk(module):
            if isinstance(node, Function) and (held := phrases(node, module)):
                found[f"{path.relative_to(PROJECT / 'tests')}::{node.name}"] = held
    return found


def test_a_test_asserts_facts_and_no_sentence():
    found = every_phrase()
    more = {name: sorted(found[name]) for name in found.keys() - ALLOWED.keys()}
    assert not more, "assert the status, ids, numbers or names that the sentence has to carry"
    assert not ALLOWED.keys() - found.keys(), "no longer needed here"
