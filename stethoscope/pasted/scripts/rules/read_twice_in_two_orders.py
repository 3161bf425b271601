"""Labels and predictions of a dataset that is shuffled between them.

Why: a dataset of files shuffles anew each time it is read. Labels collected in one pass and predictions made in another stand in two
orders: every score made of them is chance.
Example: `y = np.concatenate([y for _, y in test])` and `model.predict(test)` of `image_dataset_from_directory(folder)`.
Fix: `shuffle=False`, or both in one loop.
Source: keras.io/api/data_loading/image (shuffle: "Defaults to True"); stackoverflow.com/questions/64687375.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.names import meaning
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Made, is_const

_KEEPS = ("prefetch", "cache", "map", "with_options")


def _run(facts: Facts) -> Iterator[Finding]:
    passes: dict[str, int] = {}
    for node in ast.walk(facts.parsed.tree):
        if isinstance(node, ast.comprehension) and isinstance(node.target, ast.Tuple):
            passes.setdefault(ast.unparse(node.iter), node.target.lineno)
    done: set[int] = set()
    for call in facts.methods("predict"):
        written = ast.unparse(call.call_node.args[0]) if call.call_node.args else ""
        line = passes.get(written, 0)
        value = call.args[0] if call.args else None
        while isinstance(value, Made) and value.call.method in _KEEPS and value.call.receiver is not None:
            value = value.call.receiver
        if not line or not isinstance(value, Made) or id(call.node) in done:
            continue
        read = value.call
        shuffle = read.argument("shuffle")
        shuffles = read.method == "shuffle" or (
            meaning(read.name).startswith("keras.") and meaning(read.name).endswith("_dataset_from_directory")
        )
        if (
            not shuffles
            or read.spread
            or (read.method != "shuffle" and shuffle is not None and not is_const(shuffle, True))
        ):
            continue
        done.add(id(call.node))
        yield facts.finding(
            line,
            Fault.VALIDATION,
            Severity.HIGH,
            0.9,
            f"The labels are read here and the rows once more in line {facts.source.where(call.line).rpartition(':')[2]}, and the dataset is shuffled anew between: they do not belong together.",
            "Say shuffle=False where it is read from its folder.",
        )


RULE = Rule(_run)
