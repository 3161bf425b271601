"""Pictures from 0 to 1 beside a network that makes them with tanh.

Why: tanh gives −1 … 1. Pictures divided by 255 never go below 0: a discriminator tells the two apart by their range alone, and half of what
the generator can make is never right.
Example: `images = images / 255.0` and a generator that ends in `Conv2DTranspose(1, 5, activation="tanh")`.
Fix: `images = images / 127.5 - 1`, or sigmoid.
Source: Radford et al., "DCGAN" (2016), section 4; tensorflow.org/tutorials/generative/dcgan.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from stethoscope.architecture.activations import TANH
from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.models_built import activation_of, layer_name
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Call

_OTHER_RANGE = re.compile(r"127\.5|0\.5|\* ?2|- ?1(?:\.0*)?\b(?!\s*[,\])])|Rescaling|MinMaxScaler|preprocess_input")
_ENDS = frozenset(f"keras.layers.{name}" for name in ("Conv2DTranspose", "Conv2D", "Activation", "Dense"))


def _run(facts: Facts) -> Iterator[Finding]:
    if "iscriminator" not in facts.source.text or "127.5" in facts.source.text:
        return
    end = next((call for model in facts.models if (call := _makes(model.layer_calls())) is not None), None)
    if end is None:
        return
    scaled = [node for node in facts.nodes(ast.BinOp) if isinstance(node.op, ast.Div) and _is_255(node.right)]
    if not scaled or any(_OTHER_RANGE.search(row) for row in _rows_of_pictures(facts, scaled)):
        return
    node = scaled[0]
    yield facts.finding(
        node.lineno,
        Fault.PREPROCESSING,
        Severity.MEDIUM,
        0.85,
        f"The pictures are brought to 0 … 1, and the network (line {facts.source.where(end.line).rpartition(':')[2]}) makes them with tanh, from −1 to 1.",
        "Bring them to −1 … 1.",
        [facts.spans.replace(node, f"{facts.spans.text(node.left)} / 127.5 - 1.0")] if len(scaled) == 1 else [],
    )


def _makes(layers: Iterator[Call]) -> Call | None:
    """The last layer, if it makes pictures with tanh."""
    found = list(layers)
    last = found[-1] if found else None
    if last is None or layer_name(last) not in _ENDS:
        return None
    given = last.argument("activation", 0 if layer_name(last).endswith("Activation") else -1)
    makes = any("Transpose" in one.name or "UpSampling" in one.name or "Reshape" in one.name for one in found)
    return last if makes and activation_of(given) == TANH.name else None


def _is_255(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value in (255, 255.0)


def _rows_of_pictures(facts: Facts, scaled: list[ast.BinOp]) -> Iterator[str]:
    """The lines that scale, and those that go on with what they name."""
    names = {
        one.id
        for node in facts.nodes(ast.Assign)
        if any(part in scaled for part in ast.walk(node.value))
        for target in node.targets
        for one in ast.walk(target)
        if isinstance(one, ast.Name)
    }
    for row in facts.source.text.split("\n"):
        left, sign, right = row.partition("=")
        if "255" in row or (sign and any(re.search(rf"\b{re.escape(name)}\b", right) for name in names)):
            yield f"{left}={right}"


RULE = Rule(_run)
