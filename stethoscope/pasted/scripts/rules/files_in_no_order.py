"""Pictures and masks are paired by the order in which a folder lists them.

Why: `os.listdir` and `glob` list files in any order, and two folders in two. Paired by place, pictures get the masks of others; where one list
is sorted and the other is not, nearly all do.
Example: `images = os.listdir("images")`, `masks = os.listdir("masks")`, `zip(images, masks)`.
Fix: `sorted(os.listdir(…))` for both.
Source: docs.python.org/3/library/os.html (listdir: "The list is in arbitrary order"); docs.python.org/3/library/glob.html.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule

_PICTURES = re.compile(r"im(?:g|age)s?|pictures?|photos?|frames?|inputs?|(?:^|_)xs?(?:_|$)", re.IGNORECASE)
_MARKS = re.compile(r"masks?|msks?|labels?|seg|annot|target|(?:^|_)gts?(?:_|$)|(?:^|_)ys?(?:_|$)", re.IGNORECASE)
_LISTS = ("os.listdir", "glob.glob", "glob", "listdir", "tf.io.gfile.glob", "tf.io.gfile.listdir")


def _run(facts: Facts) -> Iterator[Finding]:
    listed: list[tuple[ast.Assign, str, ast.Call]] = []
    ordered: list[str] = []
    for node in facts.nodes(ast.Assign):
        name = ast.unparse(node.targets[0]).removeprefix("self.")
        call = _listing(node.value)
        if call is not None and not _sorted_later(facts, name):
            listed.append((node, name, call))
        elif "sorted(" in ast.unparse(node.value) or (call is not None):
            ordered.append(name)
    pictures = [one for one in listed if _PICTURES.search(one[1]) and not _MARKS.search(one[1])]
    marks = [one for one in listed if _MARKS.search(one[1])]
    one_side = (
        marks and not pictures and any(_PICTURES.search(one) and not _MARKS.search(one) for one in ordered)
    ) or (pictures and not marks and any(_MARKS.search(one) for one in ordered))
    if not (pictures and marks) and not one_side:
        return
    places = [*marks, *pictures]
    if one_side and len(places) != 1:
        return
    node, name, _ = min(places, key=lambda one: one[0].lineno)
    yield facts.finding(
        node.lineno,
        Fault.LABELS,
        Severity.HIGH if one_side else Severity.MEDIUM,
        0.85,
        f"{name[:60]} comes in the order in which the folder lists it, which is any: pictures and their masks are paired by place.",
        "Sort both lists.",
        [facts.spans.replace(call, f"sorted({facts.spans.text(call)})") for _, _, call in places],
    )


def _listing(value: ast.expr) -> ast.Call | None:
    """The call that lists a folder, where nothing sorts it."""
    calls = [one for one in ast.walk(value) if isinstance(one, ast.Call)]
    sorted_ones = [one for one in calls if ast.unparse(one.func) in ("sorted", "natsorted", "len")]
    held = {id(one) for outer in sorted_ones for one in ast.walk(outer)}
    return next((one for one in calls if ast.unparse(one.func) in _LISTS and id(one) not in held), None)


def _sorted_later(facts: Facts, name: str) -> bool:
    """Whether the list is put in order, or its names are used for both."""
    own = re.escape(name)
    return re.search(rf"\b{own}\.sort\(|sorted\([^\n]*\b{own}\b", facts.source.text) is not None


RULE = Rule(_run)
