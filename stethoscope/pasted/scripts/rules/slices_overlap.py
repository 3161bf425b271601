"""Slices of one array for training and test that share rows.

Why: rows in both are trained on and then judged: the score is too good.
Example: `x_train, x_test = x[:4000], x[3000:]`.
Fix: begin the second where the first ends: `x[:4000]`, `x[4000:]`.
Source: Kapoor & Narayanan, "Leakage and the reproducibility crisis" (Patterns 2023): L1.4, duplicates.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule

_TRAINS = re.compile(r"train", re.IGNORECASE)
_JUDGES = re.compile(r"test|val|valid|holdout", re.IGNORECASE)


def _run(facts: Facts) -> Iterator[Finding]:
    ends: dict[str, tuple[int, int]] = {}
    done: set[str] = set()
    for name, cut, line in sorted(_cuts(facts), key=lambda one: one[2]):
        owner = ast.unparse(cut.value)
        part = cut.slice
        assert isinstance(part, ast.Slice)
        if (
            _TRAINS.search(name)
            and part.lower is None
            and part.step is None
            and (end := _whole(part.upper)) is not None
        ):
            ends[owner] = (end, line)
        first = _whole(part.lower)
        if not _JUDGES.search(name) or _TRAINS.search(name) or first is None or owner not in ends or owner in done:
            continue
        end = ends[owner][0]
        last = _whole(part.upper)
        if 0 <= first < end and (last is None or last > first) and end > 0:
            done.add(owner)
            yield facts.finding(
                line,
                Fault.VALIDATION,
                Severity.HIGH,
                0.93,
                f"{name} begins at row {first:,}, and the training rows end at {end:,}: the rows between them are in both.",
                f"Begin at {end:,}.",
                [facts.spans.replace(part.lower, str(end))]
                if part.lower is not None and (last is None or last > end)
                else [],
            )


def _cuts(facts: Facts) -> Iterator[tuple[str, ast.Subscript, int]]:
    """Each name that is given a slice, with the slice."""
    for node in facts.nodes(ast.Assign):
        for target in node.targets:
            pairs = (
                list(zip(target.elts, node.value.elts, strict=False))
                if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple)
                else [(target, node.value)]
            )
            for name, value in pairs:
                if (
                    isinstance(name, ast.Name)
                    and isinstance(value, ast.Subscript)
                    and isinstance(value.slice, ast.Slice)
                ):
                    yield name.id, value, value.lineno


def _whole(node: ast.expr | None) -> int | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, int) else None


RULE = Rule(_run, same_as=frozenset({"split-difference"}))
