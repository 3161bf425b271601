"""How many planted faults the tests catch: a flipped comparison, a branch never taken, another number, a swallowed error, a lock not taken.

One fault at a time is planted in a clone, by a fixed draw over all modules of engine, dashboard and command line; then the tests
that are nearest to the module run: those that bear its name, those that import it, and the contracts. FAULTS=40 says how many,
AT=<commit> in which state of the project.
"""

from __future__ import annotations

import ast
import os
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.benchmark import Benchmark
from tests.sources import nearest_tests
from tests.suite import command

ROOT = Path(__file__).resolve().parents[1]
FAULTS, LIMIT_S, SEED = int(os.environ.get("FAULTS", "12")), 600.0, 17
LEAST_CAUGHT = 0.75
FARTHEST = 2
"""The tests that are named after the module, and those that import it; see `nearest_tests`."""
_RED = (1, 2)
"""What pytest ends with after a failure or an error; 5 would be that there was no test."""
_FLIPPED = {
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}


def run(folder: Path) -> dict[str, Any]:
    """{"planted", "caught", "share", "by_kind", "missed": [{"module", "line", "kind", "code"}]}."""
    clone = folder.resolve() / "clone"
    subprocess.run(["git", "clone", "-q", ROOT, clone], check=True)
    subprocess.run(["git", "checkout", "-q", os.environ.get("AT", "HEAD")], cwd=clone, check=True)
    if (shared := ROOT.parent / "shared").exists():
        (folder / "shared").symlink_to(shared)
    subprocess.run(["make", "-s", ".venv/.dev"], cwd=clone, check=True, capture_output=True)
    planted: list[dict[str, Any]] = []
    for module, place in drawn(clone):
        text = module.read_text("utf-8")
        tree = ast.parse(text)
        kind, node = faults_of(tree)[place]
        fault = {
            "module": str(module.relative_to(clone)),
            "line": node.lineno,
            "kind": kind,
            "code": ast.unparse(node).splitlines()[0][:100],
        }
        plant(kind, node)
        module.write_text(ast.unparse(ast.fix_missing_locations(tree)), "utf-8")
        try:
            planted.append(fault | {"caught": is_caught(clone, module)})
        finally:
            module.write_text(text, "utf-8")
        print(f"  {planted[-1]}", file=sys.stderr, flush=True)
    caught = [fault for fault in planted if fault["caught"]]
    share = len(caught) / max(1, len(planted))
    return {
        "planted": len(planted),
        "caught": len(caught),
        "share": round(share, 3),
        "by_kind": {
            kind: f"{Counter(fault['kind'] for fault in caught)[kind]} of {count}"
            for kind, count in sorted(Counter(fault["kind"] for fault in planted).items())
        },
        "missed": [fault for fault in planted if not fault["caught"]],
        "holds": share >= LEAST_CAUGHT,
    }


def drawn(clone: Path) -> Iterator[tuple[Path, int]]:
    """A module and the place of a fault in it, each module once, each kind of fault as likely.

    What is drawn of a module depends on its name alone: two states of the project get the same faults where they are the same.
    """
    modules = [path for name in ("stethoscope", "dashboard") for path in (clone / name).rglob("*.py")]
    draws = {module: random.Random(f"{SEED} {module.relative_to(clone)}") for module in modules}
    left = FAULTS
    for module, draw in sorted(draws.items(), key=lambda item: item[1].random()):
        found = faults_of(ast.parse(module.read_text("utf-8")))
        if found and left:
            kind = draw.choice(sorted({kind for kind, _ in found}))
            yield module, draw.choice([place for place, (its, _) in enumerate(found) if its == kind])
            left -= 1


def faults_of(tree: ast.Module) -> list[tuple[str, Any]]:
    """(kind, node) of each place inside a function where a fault can be planted, in the order of the tree."""
    inside = [part for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) for part in ast.walk(node)]
    found: list[tuple[str, Any]] = []
    for node in dict.fromkeys(inside):
        match node:
            case ast.Compare(ops=[operator]) if type(operator) in _FLIPPED:
                found.append(("flipped comparison", node))
            case ast.If():
                found.append(("branch never taken", node))
            case ast.Raise(exc=ast.expr()):
                found.append(("swallowed error", node))
            case ast.With() if re.search(r"lock|_changed", ast.unparse(node.items[0])):
                found.append(("lock not taken", node))
            case ast.Constant(value=int() | float()) if not isinstance(node.value, bool) and abs(node.value) > 1:
                found.append(("another number", node))
    return found


def plant(kind: str, node: Any) -> None:
    """Changes the node."""
    match kind:
        case "flipped comparison":
            node.ops = [_FLIPPED[type(node.ops[0])]()]
        case "branch never taken":
            node.test = ast.Constant(False)
        case "swallowed error":
            node.exc, node.cause = None, None
            node.__class__ = ast.Pass
        case "lock not taken":
            free = ast.parse("__import__('contextlib').nullcontext()", mode="eval").body
            node.items = [ast.withitem(free)]
        case "another number":
            node.value = type(node.value)(3 * node.value + 1)


def is_caught(clone: Path, module: Path) -> bool:
    """Whether one of the nearest tests is red, or does not end."""
    near = [
        str(test.relative_to(clone))
        for test, distance in nearest_tests([module], clone).items()
        if distance <= FARTHEST and test.parent.name != "browser"
    ]
    folder = clone / "tests" / Path(*module.relative_to(clone).parts[1:-1])
    mirrored = [str(folder.relative_to(clone))] if folder != clone / "tests" and folder.is_dir() else []
    if module.relative_to(clone).parts[0] == "dashboard":
        mirrored = ["tests/dashboard"]
    for tests in filter(None, (near, mirrored, ["tests/contracts"])):
        try:
            words = command("-x", *tests, python=".venv/bin/python")
            done = subprocess.run(words, cwd=clone, capture_output=True, check=False, timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            return True
        if done.returncode in _RED:
            return True
    return False


BENCHMARK = Benchmark("suite_faults", f"the tests catch at least {LEAST_CAUGHT:.0%} of {FAULTS} planted faults", run)
