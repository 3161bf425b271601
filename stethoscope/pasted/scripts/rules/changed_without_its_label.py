"""A picture is turned, and what marks places in it is not.

Why: a mask, a box or key points say where something is. Flipped, turned or cut at random without them, the picture shows it elsewhere. Two
calls with seeds of their own turn each in another way.
Example: `image = tf.image.random_flip_left_right(image)` and `return image, mask`.
Fix: draw once and change both: `if tf.random.uniform(()) > 0.5: …`, or join them and cut once.
Source: tensorflow.org/tutorials/images/segmentation (both are flipped with one seed); tensorflow.org/api_docs/python/tf/image.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule

_PLACES = re.compile(
    r"^(?:\w+_)?(?:mask|masks|msk|seg|segmentation|label_map|box|boxes|bbox|bboxes|bounding_box(?:es)?|keypoints?|landmarks?)$",
    re.IGNORECASE,
)
_TURNS = re.compile(r"(?:^|\.)(?:random_flip_left_right|random_flip_up_down|random_crop)$")
_PICTURE = re.compile(r"^(?:img|image|images|picture|x|im|frame|input_image|photo)\w*$", re.IGNORECASE)


def _run(facts: Facts) -> Iterator[Finding]:
    functions: list[ast.FunctionDef | ast.Lambda] = [*facts.nodes(ast.FunctionDef), *facts.nodes(ast.Lambda)]
    for function in functions:
        ends = [function.body] if isinstance(function, ast.Lambda) else []
        ends += (
            [node.value for node in ast.walk(function) if isinstance(node, ast.Return) and node.value is not None]
            if not ends
            else []
        )
        together = [one for one in ends if isinstance(one, ast.Tuple | ast.Dict)]
        names = {one.id for end in together for one in ast.walk(end) if isinstance(one, ast.Name)}
        marks = {name for name in names if _PLACES.match(name)}
        taken = {one.arg for one in function.args.args}
        if not marks or not (marks & taken or _taken_apart(function, marks)):
            continue
        for call in ast.walk(function):
            if not isinstance(call, ast.Call) or not _TURNS.search(ast.unparse(call.func)) or not call.args:
                continue
            given = call.args[0]
            if (
                not isinstance(given, ast.Name)
                or not _PICTURE.match(given.id)
                or any("seed" in (one.arg or "") for one in call.keywords)
            ):
                continue
            mark = sorted(marks)[0]
            yield facts.finding(
                call.lineno,
                Fault.LABELS,
                Severity.HIGH,
                0.88,
                f"{given.id} is changed at random here, and {mark} is not changed with it: it marks other places.",
                f"Draw once, and change {given.id} and {mark} alike.",
            )


def _taken_apart(function: ast.AST, marks: set[str]) -> bool:
    """Whether such a name is given a value within."""
    return any(
        isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store) and one.id in marks for one in ast.walk(function)
    )


RULE = Rule(_run)
