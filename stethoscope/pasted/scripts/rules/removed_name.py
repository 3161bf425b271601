"""A name that TensorFlow or Keras does not have any more.

Why: Keras 3, which TensorFlow brings since 2.16, left out much of Keras 2, and TensorFlow 2 most of TensorFlow 1. The line
raises ImportError or AttributeError, mostly before anything is trained.
Example: `from keras.utils import np_utils`, `tf.Session()`, `K.mean(x)` after `from keras import backend as K`.
Fix: the name of today, where one takes its place.
Limits: names are held against the public names of the versions that this program was made with (TensorFlow 2.21, Keras 3.15).
Lines under a question for the version, or in a `try` for an ImportError, are left alone.
Source: keras.io/guides/migrating_to_keras_3; tensorflow.org/guide/migrate; the names that the installed packages have.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.checks.fixes.script_patch import Edit
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.names import first_missing
from stethoscope.pasted.scripts.renames import Today, gone_all_the_same, today
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.spelling import spelled
from stethoscope.pasted.scripts.values import Use

_GONE_WITH_KERAS_2 = (
    "tensorflow.compat.v1.keras.backend.set_session",
    "tensorflow.compat.v1.keras.backend.get_session",
    "tensorflow.compat.v1.layers.",
)
"""Names of TensorFlow 1 that were Keras 2 (tried on TensorFlow 2.21)."""
_WHO = {"keras": "Keras 3", "tensorflow": "TensorFlow 2"}


def _run(facts: Facts) -> Iterator[Finding]:
    if facts.legacy:
        return
    gone_at_import: dict[str, int] = {}
    statements: dict[int, list[Use]] = {}
    done: set[tuple[int, str]] = set()
    for use in facts.uses:
        missing = _missing(use)
        if not missing or use.guarded:
            continue
        if use.imported:
            gone_at_import.setdefault(missing, use.line)
            statements.setdefault(use.line, []).append(use)
    for line, uses in statements.items():
        yield _of_import(facts, line, uses)
    rows: dict[int, list[Use]] = {}
    for use in facts.uses:
        missing = _missing(use)
        place = f"{use.line}:{getattr(use.node, 'col_offset', 0)}"
        if not missing or use.guarded or use.imported or (use.line, place) in done:
            continue
        done.add((use.line, place))
        if any(_covers(gone, use.name) for gone in gone_at_import) and not _still_to_change(use, gone_at_import):
            continue  # the import is what has to change
        rows.setdefault(use.line, []).append(use)
    for uses in rows.values():
        yield _of_line(facts, uses)


def _still_to_change(use: Use, gone: dict[str, int]) -> bool:
    """Whether a use has to be written anew although its import is mended: a module that stays none."""
    covering = max((name for name in gone if _covers(name, use.name)), key=len)
    return isinstance(use.node, ast.Attribute) and not today(covering, covering).name


def _missing(use: Use) -> str:
    if use.name.startswith(_GONE_WITH_KERAS_2):
        return use.name
    if use.name.startswith("tensorflow.compat.v1.") and ".contrib" not in use.name:
        return ""
    return first_missing(use.name) or (use.name if gone_all_the_same(use.name) else "")


def _covers(gone: str, name: str) -> bool:
    return name == gone or name.startswith(f"{gone}.")


def _of_import(facts: Facts, line: int, uses: list[Use]) -> Finding:
    uses = list({use.name: use for use in uses}.values())
    found = [today(use.name, _missing(use)) for use in uses]
    names = ", ".join(use.name for use in uses)
    who = _WHO[uses[0].name.split(".")[0]]
    if uses[0].name.startswith("tensorflow.keras"):
        who = _WHO["keras"]
    remarks = "; ".join(dict.fromkeys(one.remark for one in found if one.remark))
    told = ", ".join(dict.fromkeys(one.name for one in found if one.name))
    now = f" It is {told} today." if told else " Nothing takes its place under another name."
    message = f"{who} has no {names}, so this import fails.{now}{_sentence(remarks)}"
    edits = _import_edits(facts, uses, found)
    return facts.finding(
        line,
        Fault.DEPLOYMENT,
        Severity.HIGH,
        0.95,
        message,
        f"Import {told} instead." if told else (remarks or f"Do without {names}."),
        edits,
    )


def _import_edits(facts: Facts, uses: list[Use], found: list[Today]) -> list[Edit]:
    if not all(one.name for one in found):
        return []
    statement = next(
        (
            node
            for node in ast.walk(facts.parsed.tree)
            if isinstance(node, ast.Import | ast.ImportFrom)
            and node.lineno <= uses[0].line <= (node.end_lineno or node.lineno)
        ),
        None,
    )
    if statement is None:
        return []
    if isinstance(statement, ast.Import):
        return [
            facts.spans.replace(alias, f"{new.name} as {alias.asname}" if alias.asname else new.name)
            for alias in statement.names
            for use, new in zip(uses, found, strict=True)
            if alias.name == use.name
        ]
    changed = {use.name: new.name for use, new in zip(uses, found, strict=True)}
    if statement.names[0].name == "*":
        return [_module_edit(facts, statement, found[0].name)]
    lines = []
    for alias in statement.names:
        new = changed.get(f"{statement.module}.{alias.name}")
        if new is not None:
            lines.append((alias, new.rpartition(".")[0], new.rpartition(".")[2]))
    homes = {home for _, home, _ in lines}
    if len(lines) == len(statement.names) and len(homes) == 1:
        edits = [_module_edit(facts, statement, homes.pop())]
        for alias, _, last in lines:
            if last != alias.name:
                edits.append(facts.spans.replace(alias, f"{last} as {alias.asname or alias.name}"))
        return edits
    if len(lines) == len(statement.names):
        rest = [f"from {home} import {_as(last, alias)}" for alias, home, last in lines]
        own = facts.spans.replace(statement, "\n".join(rest))
        return [own] if statement.col_offset == 0 else []
    edits = []
    for alias, home, last in lines:
        edits.append(_without_alias(facts, statement, alias))
        edits.append(facts.spans.above(statement.lineno, f"from {home} import {_as(last, alias)}"))
    # Two lines above one place would meet: they become one edit.
    above = [edit for edit in edits if edit.text]
    joined = [Edit(above[0].part, above[0].start, above[0].end, "".join(edit.text for edit in above))] if above else []
    return [*(edit for edit in edits if not edit.text), *joined] if len(lines) == 1 else []


def _as(last: str, alias: ast.alias) -> str:
    bound = alias.asname or alias.name
    return last if last == bound else f"{last} as {bound}"


def _module_edit(facts: Facts, statement: ast.ImportFrom, home: str) -> Edit:
    own = facts.spans.replace(statement, "")
    written = facts.spans.text(statement)
    place = re.match(r"from\s+(\S+)", written)
    assert place is not None
    return Edit(own.part, own.start + place.start(1), own.start + place.end(1), home)


def _without_alias(facts: Facts, statement: ast.ImportFrom, alias: ast.alias) -> Edit:
    place = statement.names.index(alias)
    own = facts.spans.replace(alias, "")
    if place + 1 < len(statement.names):
        return Edit(own.part, own.start, facts.spans.replace(statement.names[place + 1], "").start, "")
    return Edit(own.part, facts.spans.replace(statement.names[place - 1], "").end, own.end, "")


def _of_line(facts: Facts, uses: list[Use]) -> Finding:
    names = list(dict.fromkeys(use.name for use in uses))
    found = {use.name: today(use.name, _missing(use)) for use in uses}
    written = ", ".join(dict.fromkeys(facts.spans.text(use.expression) for use in uses))
    who = "Keras 3" if "keras" in names[0].split(".")[:2] else "TensorFlow 2"
    told = ", ".join(dict.fromkeys(new.name for new in found.values() if new.name))
    remarks = "; ".join(dict.fromkeys(new.remark for new in found.values() if new.remark))
    error = "ImportError" if gone_all_the_same(names[0]) else "AttributeError"
    now = f" Today: {told}." if told else ""
    message = f"{who} has no {', '.join(names)}: {written} raises {error}.{now}{_sentence(remarks)}"
    edits: list[Edit] = []
    for use in uses:
        new = found[use.name].name
        if not new or new in _OTHER_USE:
            edits = []
            break
        name = spelled(facts, new, avoid=_missing(use))
        edits.extend(
            edit for edit in (facts.spans.replace(use.expression, name.text), *name.edits) if edit not in edits
        )
    return facts.finding(
        uses[0],
        Fault.DEPLOYMENT,
        Severity.HIGH,
        0.95 if uses[0].reached else 0.9,
        message,
        f"Write {told}." if edits else (remarks[:1].upper() + remarks[1:] or f"Do without {written}."),
        edits,
    )


_OTHER_USE = frozenset({"tensorflow.GradientTape"})
"""What takes the place of a name, and is used in another way."""


def _sentence(remark: str) -> str:
    return f" {remark[:1].upper()}{remark[1:]}." if remark else ""


RULE = Rule(_run)
