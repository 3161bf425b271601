"""The rows that judge are the rows that are trained on.

Why: a score on rows that were trained on says how well they were learned by heart.
Example: `train = tf.data.TFRecordDataset("rows.tfrecord")` and `val = tf.data.TFRecordDataset("rows.tfrecord")`; `tfds.load(name,
split=["train", "train"])`.
Fix: read other rows for the validation.
Source: Kapoor & Narayanan, "Leakage and the reproducibility crisis" (Patterns 2023): L1.1; tensorflow.org/datasets/splits.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule

_TRAINS = re.compile(r"^(?:x_?)?train(?:ing)?(?:_\w+)?$|^(?:ds|data|df|gen)_train$")
_JUDGES = re.compile(
    r"^(?:val|valid|validation|test)(?:ing)?(?:_(?!train)\w+)?$|^(?:ds|data|df|gen)_(?:val|valid|test)$"
)
_READS = re.compile(
    r"(?:TFRecordDataset|flow_from_directory|dataset_from_directory|read_csv|\bnp\.load|TextLineDataset|list_files)\("
)
_RANGE = re.compile(r"^(\w+)\[(?:(\d+)%)?:(?:(\d+)%)?\]$")
_PARTS = re.compile(r"take|skip|shard|sample|\[|subset|split|filter|query")


def _run(facts: Facts) -> Iterator[Finding]:
    read: dict[tuple[str, ...], tuple[str, int]] = {}
    for node in facts.nodes(ast.Assign):
        name, written = ast.unparse(node.targets[0]), ast.unparse(node.value)
        if not _READS.search(written) or _PARTS.search(written):
            continue
        paths = tuple(
            one.value for one in ast.walk(node.value) if isinstance(one, ast.Constant) and isinstance(one.value, str)
        )
        if not any("." in one or "/" in one for one in paths) or _cut_later(facts, name):
            continue
        if _TRAINS.match(name):
            read.setdefault(paths, (name, node.lineno))
        elif _JUDGES.match(name) and paths in read:
            yield facts.finding(
                node.lineno,
                Fault.VALIDATION,
                Severity.HIGH,
                0.88,
                f"{name} is read from the same place as {read[paths][0]} (line {facts.source.where(read[paths][1]).rpartition(':')[2]}): the model is judged by rows that it was trained on.",
                "Read other rows.",
            )
    for call in facts.nodes(ast.Call):
        parts = next((one.value for one in call.keywords if one.arg == "split"), None)
        if isinstance(parts, ast.List | ast.Tuple) and ast.unparse(call.func) in (
            "tfds.load",
            "tensorflow_datasets.load",
        ):
            said = [ast.unparse(one) for one in parts.elts]
            shared = _shared([one.value for one in parts.elts if isinstance(one, ast.Constant)])
            if shared:
                yield facts.finding(
                    parts.lineno,
                    Fault.VALIDATION,
                    Severity.HIGH,
                    0.93,
                    f"The splits {shared[0]} and {shared[1]} share rows: the model is judged by rows that it was trained on.",
                    "Begin the second where the first ends.",
                )
            if len(said) > len(set(said)):
                yield facts.finding(
                    parts.lineno,
                    Fault.VALIDATION,
                    Severity.HIGH,
                    0.93,
                    f"The same rows, {said[0]}, are taken twice: the model is judged by rows that it was trained on.",
                    "Take another split for the test.",
                )


def _shared(splits: list[object]) -> tuple[str, str] | None:
    """Two splits like "train[:60%]" and "train[50%:]" that share rows."""
    ranges = []
    for split in splits:
        match = _RANGE.match(split) if isinstance(split, str) else None
        if match is not None:
            ranges.append((str(split), match[1], int(match[2] or 0), int(match[3] or 100)))
    for place, (one, part, begin, end) in enumerate(ranges):
        for other, other_part, other_begin, other_end in ranges[place + 1 :]:
            if part == other_part and one != other and max(begin, other_begin) < min(end, other_end):
                return one, other
    return None


def _cut_later(facts: Facts, name: str) -> bool:
    return (
        re.search(
            rf"\b{re.escape(name)}\s*=\s*{re.escape(name)}\.(?:take|skip|shard|sample|filter)|\b{re.escape(name)}\.iloc",
            facts.source.text,
        )
        is not None
    )


RULE = Rule(_run)
