"""The gradient of a root at zero.

Why: the slope of a root is infinite at 0, and infinity times 0 is NaN. Two equal vectors have the distance 0: one such pair, and all weights
are NaN.
Example: `K.sqrt(K.sum(K.square(a - b), axis=1, keepdims=True))` as the distance that is trained on.
Fix: `K.sqrt(K.maximum(K.sum(…), K.epsilon()))`.
Source: keras.io/examples/vision/siamese_contrastive (maximum with epsilon); github.com/tensorflow/tensorflow/issues/4914.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.checks.fixes.script_patch import Edit
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule

_ROOT = re.compile(r"^(?:K|backend|keras\.backend|tf\.keras\.backend|tf|tf\.math|ops|keras\.ops)\.sqrt$")
_TRAINED_ON = re.compile(r"contrastive|triplet|siamese", re.IGNORECASE)


def _run(facts: Facts) -> Iterator[Finding]:
    if not _TRAINED_ON.search(facts.source.text):
        return
    for call in facts.nodes(ast.Call):
        if not _ROOT.match(ast.unparse(call.func)) or len(call.args) != 1 or call.keywords:
            continue
        inner = call.args[0]
        if not isinstance(inner, ast.Call) or ast.unparse(inner.func).rpartition(".")[2] not in ("sum", "reduce_sum"):
            continue
        if not inner.args or not _is_square_of_a_difference(facts, inner.args[0]):
            continue
        yield facts.finding(
            call.lineno,
            Fault.NUMERICAL,
            Severity.MEDIUM,
            0.85,
            "The slope of a root at 0 is infinite: two equal vectors make every weight NaN.",
            "Keep what is under the root above 0.",
            _edits(facts, call, inner),
        )


def _is_square_of_a_difference(facts: Facts, node: ast.expr) -> bool:
    if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == "square" and node.args:
        inner = node.args[0]
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        inner = node.left
    else:
        return False
    return isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Sub)


def _edits(facts: Facts, call: ast.Call, inner: ast.Call) -> list[Edit]:
    root = ast.unparse(call.func).rpartition(".")[0]
    root = "tf" if root == "tf.math" else root
    return [facts.spans.replace(inner, f"{root}.maximum({facts.spans.text(inner)}, 1e-7)")]


RULE = Rule(_run)
