"""Random changes that are kept.

Why: `cache` keeps what it has seen in the first epoch. Pictures changed at random before it are the same in every epoch: there is no
augmentation any more.
Example: `ds.map(augment).cache()`.
Fix: `ds.cache().map(augment)`.
Source: tensorflow.org/guide/data_performance (caching); tensorflow.org/tutorials/images/data_augmentation.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Function, Made, Ref, Value, ancestors

_RANDOM = re.compile(
    r"image\.(?:random_|stateless_random_)|\bRandom(?:Flip|Rotation|Zoom|Crop|Contrast|Brightness|Translation)|random\.uniform\("
)
_NAMED = re.compile(r"augment", re.IGNORECASE)


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for call in facts.methods("cache"):
        if id(call.node) in done or call.receiver is None:
            continue
        changed = next(
            (
                one.call
                for one in ancestors(call.receiver)
                if isinstance(one, Made)
                and one.call.method == "map"
                and one.call.args
                and _random(facts, one.call.args[0])
            ),
            None,
        )
        if changed is None:
            continue
        done.add(id(call.node))
        yield facts.finding(
            call,
            Fault.DATA,
            Severity.MEDIUM,
            0.88,
            f"cache stands behind the random changes of line {facts.source.where(changed.line).rpartition(':')[2]}: each epoch gets the same pictures.",
            "Put cache in front of them.",
        )


def _random(facts: Facts, function: Value) -> bool:
    if isinstance(function, Function):
        written = ast.unparse(function.node)
        return _RANDOM.search(written) is not None or (
            isinstance(function.node, ast.Lambda) and _NAMED.search(written) is not None
        )
    return isinstance(function, Ref) and _NAMED.search(function.name) is not None


RULE = Rule(_run)
