"""Numbers of all rows are used to scale before the test rows are taken away.

Why: mean, deviation, least and largest of all rows hold those of the test. Test rows that are scaled by their own numbers are scaled in
another way than the rows that the model was trained on.
Example: `data = (data - data.mean(axis=0)) / data.std(axis=0)` and `data[:n]`, `data[n:]` below; `x_test = (x_test - x_test.mean()) / x_test.std()`.
Fix: take the numbers from the training rows, and use them for all.
Source: scikit-learn.org/stable/common_pitfalls.html (data leakage); Kapoor & Narayanan (Patterns 2023); Chollet, "Deep Learning with Python",
4.3 ("never use in your workflow any quantity computed on the test data").
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule

_NUMBERS = ("mean", "std")
_TEST = re.compile(r"(?:^|_)(?:test|tst|val|valid|validation|holdout)(?:$|_|s$)|^[Xxy]_?te$")
_TRAIN = re.compile(r"train|_tr$|fit", re.IGNORECASE)


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[str] = set()
    for node in ast.walk(facts.parsed.tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target = node.targets[0]
        elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Sub | ast.Div):
            target = node.target
        else:
            continue
        name = _scaled(target, node.value, isinstance(node, ast.AugAssign))
        if not name or name in done:
            continue
        done.add(name)
        if _TEST.search(name):
            yield facts.finding(
                node.lineno,
                Fault.PREPROCESSING,
                Severity.MEDIUM,
                0.85,
                f"{name} is scaled by its own numbers, not by those of the training rows: the model meets it in another scale than it was trained in.",
                "Use mean and deviation of the training rows.",
            )
            continue
        line = 0 if _TRAIN.search(name) else _parted(facts, ast.unparse(target), node.lineno)
        if line:
            yield facts.finding(
                node.lineno,
                Fault.PREPROCESSING,
                Severity.MEDIUM,
                0.82,
                f"{name} is scaled by numbers of all rows, and only line {facts.source.where(line).rpartition(':')[2]} parts them: the test rows are in these numbers.",
                "Part the rows first, and take the numbers from the training rows.",
            )


def _scaled(target: ast.expr, value: ast.expr, augmented: bool) -> str:
    """What is scaled by a mean or deviation over its own rows; "" for anything else."""
    if not isinstance(target, ast.Name):
        return ""
    signs = augmented or any(
        isinstance(one, ast.BinOp) and isinstance(one.op, ast.Sub | ast.Div) for one in ast.walk(value)
    )
    for one in ast.walk(value):
        if not isinstance(one, ast.Call) or not isinstance(one.func, ast.Attribute) or one.func.attr not in _NUMBERS:
            continue
        owner = one.func.value
        of = one.args[0] if ast.unparse(owner) in ("np", "numpy") and one.args else owner
        axis = next((ast.unparse(word.value) for word in one.keywords if word.arg == "axis"), "0")
        kept = any(word.arg in ("keepdims", "keepdim") for word in one.keywords)
        over = [ast.unparse(arg) for arg in one.args if arg is not of]
        if (
            isinstance(of, ast.Name)
            and of.id == target.id
            and axis == "0"
            and not kept
            and over in ([], ["0"])
            and signs
        ):
            return target.id
    return ""


def _parted(facts: Facts, name: str, line: int) -> int:
    """The line below where its rows are parted in two; 0 where they are not."""
    sides: dict[str, set[str]] = {}
    series = 0
    for node in ast.walk(facts.parsed.tree):
        if getattr(node, "lineno", 0) <= line:
            continue
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            own = any(isinstance(one, ast.Name) and one.id == name for arg in node.args for one in ast.walk(arg))
            words = {one.arg for one in node.keywords}
            if own and called.endswith("train_test_split"):
                return node.lineno
            if own and called.endswith("timeseries_dataset_from_array") and words & {"start_index", "end_index"}:
                series += 1
                if series > 1:
                    return node.lineno
        if isinstance(node, ast.Subscript) and ast.unparse(node.value) == name:
            cut = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) and node.slice.elts else node.slice
            if isinstance(cut, ast.Slice) and (cut.lower is None) != (cut.upper is None) and cut.step is None:
                bound = ast.unparse(cut.lower or cut.upper or cut)
                sides.setdefault(bound, set()).add("below" if cut.lower is None else "above")
                if len(sides[bound]) > 1:
                    return node.lineno
    return 0


RULE = Rule(_run)
