"""The two sides of a GAN are given the wrong labels.

Why: the generator learns by having its pictures taken for real ones: its loss holds the discriminator's answer against ones. Against zeros
it is rewarded for being found out. A discriminator that gets the same label for both kinds has nothing to tell apart.
Example: `def generator_loss(fake): return bce(tf.zeros_like(fake), fake)`.
Fix: ones for real pictures and zeros for made ones in the discriminator's loss, ones for made ones in the generator's.
Source: Goodfellow et al., "Generative adversarial networks" (2014); tensorflow.org/tutorials/generative/dcgan.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule

_GENERATOR = re.compile(r"^(?:g|gen|generator)_?(?:adv\w*)?_?loss$|^loss_(?:g|gen|generator)$", re.IGNORECASE)
_DISCRIMINATOR = re.compile(r"^(?:d|disc?|discriminator)_?loss$|^loss_(?:d|disc?|discriminator)$", re.IGNORECASE)
_MADE = re.compile(r"fake|gen", re.IGNORECASE)


def _run(facts: Facts) -> Iterator[Finding]:
    functions = facts.nodes(ast.FunctionDef)
    turned = False
    for function in functions:
        if not _DISCRIMINATOR.match(function.name):
            continue
        pairs = _pairs(function)
        if len(pairs) != 2 or _negated(function):
            continue
        (first, one), (second, other) = pairs
        if _kind(first) == _kind(second) and one != other:
            wrong, wanted = (
                (second, "zeros") if _MADE.search(other) else (first, "zeros") if _MADE.search(one) else (None, "")
            )
            if wrong is None or _kind(wrong) == wanted:
                continue
            yield _finding(
                facts,
                wrong,
                wanted,
                "The discriminator is told the same of real and of made pictures: there is nothing to tell apart.",
            )
        else:
            turned = any(_MADE.search(name) and _kind(label) == "ones" for label, name in pairs)
    for function in functions:
        pairs = _pairs(function)
        if _GENERATOR.match(function.name) and len(pairs) == 1 and not turned and not _negated(function):
            label = pairs[0][0]
            if _kind(label) == "zeros":
                yield _finding(
                    facts,
                    label,
                    "ones",
                    "The generator's loss holds the discriminator's answer against zeros: it is rewarded for being found out.",
                )


def _pairs(function: ast.FunctionDef) -> list[tuple[ast.Call, str]]:
    """Calls `loss(ones_like(x), x)`: the label, and what it is held against."""
    found = []
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and len(node.args) >= 2 and isinstance(node.args[0], ast.Call):
            label = node.args[0]
            if ast.unparse(label.func).rpartition(".")[2] in ("ones_like", "zeros_like", "ones", "zeros"):
                found.append((label, ast.unparse(node.args[1])))
    return found


def _kind(label: ast.Call) -> str:
    return ast.unparse(label.func).rpartition(".")[2].removesuffix("_like")


def _negated(function: ast.FunctionDef) -> bool:
    return any(isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) for node in ast.walk(function))


def _finding(facts: Facts, label: ast.Call, wanted: str, message: str) -> Finding:
    name = label.func
    suffix = "_like" if ast.unparse(name).endswith("_like") else ""
    return facts.finding(
        label.lineno,
        Fault.LOSS,
        Severity.HIGH,
        0.9,
        message,
        f"Hold it against {wanted}.",
        [facts.spans.rename_last(name, f"{wanted}{suffix}")] if isinstance(name, ast.Attribute) else [],
    )


RULE = Rule(_run)
