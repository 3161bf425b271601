"""Training and validation rows are scaled in two ways.

Why: a model knows only the scale that it was trained in. Rows in another one look like nothing it has seen, and their score says nothing.
Example: `train = train.map(lambda x, y: (x / 255.0, y))` and a validation set without it.
Fix: map both with the same function; change at random in the training only.
Source: UMLAUT (Schoop et al., CHI 2021): input not normalised; Humbatova et al. (ICSE 2020): preprocessing differs.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.labels import of_pipeline
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Call, Function, Value

_SCALES = re.compile(
    r"/ ?(?:255|127\.5|256)|\* ?\(?1\.?/ ?255|(\w+)\.preprocess_input|preprocess_input|convert_image_dtype|per_image_standardization"
)


def _run(facts: Facts) -> Iterator[Finding]:
    bodies = {one.name: one for one in facts.nodes(ast.FunctionDef)}
    done: set[int] = set()
    for model in facts.models:
        for fit in model.calls("fit"):
            train = of_pipeline(fit.argument("x", 0)).pipeline
            judged: list[tuple[Call, Value | None]] = [(fit, fit.argument("validation_data"))]
            judged += [(one, one.argument("x", 0)) for one in model.calls("evaluate")]
            for call, value in judged:
                other = of_pipeline(value).pipeline
                if not train or not other or train[-1].name != other[-1].name or id(call.node) in done:
                    continue
                mine, theirs = _scaling(train, bodies), _scaling(other, bodies)
                if mine is None or theirs is None or mine == theirs:
                    continue
                done.add(id(call.node))
                at = next((step for step in other if step.method == "map"), None)
                yield facts.finding(
                    call if at is None else at,
                    Fault.PREPROCESSING,
                    Severity.HIGH,
                    0.88,
                    f"The training rows are scaled by {_words(mine)}, and these by {_words(theirs)}: the score on them says nothing.",
                    "Scale both in the same way.",
                )


def _scaling(pipeline: tuple[Call, ...], bodies: dict[str, ast.FunctionDef]) -> frozenset[str] | None:
    """How the functions that rows are mapped with scale; None where one of them is not known."""
    found: set[str] = set()
    for step in pipeline:
        if step.method != "map":
            continue
        function = step.args[0] if step.args else None
        text = _written(function.node, bodies, 0) if isinstance(function, Function) else None
        if text is None:
            return None
        found |= {re.sub(r"\s", "", match.group(0)) for match in _SCALES.finditer(text)}
    return frozenset(found)


def _written(function: ast.AST, bodies: dict[str, ast.FunctionDef], depth: int) -> str | None:
    """A function and what it calls of the script's own; None where it calls something that is not known."""
    text = ast.unparse(function)
    for node in ast.walk(function):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        name = node.func.id
        if name in bodies and depth < 4 and bodies[name] is not function:
            inner = _written(bodies[name], bodies, depth + 1)
            if inner is None:
                return None
            text += f"\n{inner}"
        elif name not in ("preprocess_input", "int", "float", "len", "tuple", "dict"):
            return None
    return text


def _words(found: frozenset[str]) -> str:
    return " and ".join(sorted(found)) or "nothing"


RULE = Rule(_run)
