"""How a script would write a full name, with what it imports, and the import it lacks for that."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from stethoscope.checks.fixes.script_patch import Edit
from stethoscope.pasted.scripts.facts import Facts

_IMPORTS = {"tensorflow": "import tensorflow as tf", "keras": "import keras"}


@dataclass(frozen=True)
class Spelled:
    """A name as the script can write it, and the edit that makes it known there."""

    text: str
    edits: tuple[Edit, ...] = ()


def spelled(facts: Facts, name: str, *, avoid: str = "") -> Spelled:
    """How to write a full name in a script; `avoid` is a module that is not there any more."""
    bindings = {
        use.bound: (use.name if not use.name.startswith(use.bound + ".") else use.bound)
        for use in facts.uses
        if use.imported and use.bound and not use.within
    }
    best = ""
    for bound, full in bindings.items():
        if avoid and (full == avoid or full.startswith(f"{avoid}.")):
            continue
        if name == full or name.startswith(f"{full}."):
            candidate = bound + name[len(full) :]
            if not best or len(candidate) < len(best):
                best = candidate
    if best:
        return Spelled(best)
    root = name.split(".", maxsplit=1)[0]
    line = _first_import(facts)
    bound = "tf" if root == "tensorflow" else root
    text = bound + name[len(root) :]
    if root not in _IMPORTS or line == 0 or bound in bindings:
        return Spelled(text)
    return Spelled(text, (facts.spans.above(line, _IMPORTS[root]),))


def _first_import(facts: Facts) -> int:
    for statement in facts.parsed.tree.body:
        if isinstance(statement, ast.Import | ast.ImportFrom) and getattr(statement, "module", "") != "__future__":
            return statement.lineno
    return 0
