"""Bytes of a model written into a file of text.

Why: `convert()` gives bytes. A file opened with "w" takes text only: TypeError.
Example: `open("model.tflite", "w").write(converter.convert())`.
Fix: open it with "wb".
Source: ai.google.dev/edge/litert/models/convert_tf; raised by Python ("write() argument must be str, not bytes").
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Made, text


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for call in facts.methods("write"):
        given = call.args[0] if call.args else None
        opened = call.receiver.call if isinstance(call.receiver, Made) else None
        if opened is None or opened.name not in ("open", "io.open", "") or opened.method != "open":
            continue
        mode = opened.argument("mode", 1 if opened.name else 0)
        if not isinstance(given, Made) or not _bytes(given) or "b" in (text(mode) or "b") or id(opened.node) in done:
            continue
        done.add(id(opened.node))
        node = next((one.value for one in opened.call_node.keywords if one.arg == "mode"), None)
        place = 1 if opened.name else 0
        if node is None and len(opened.call_node.args) > place:
            node = opened.call_node.args[place]
        yield facts.finding(
            opened,
            Fault.DEPLOYMENT,
            Severity.HIGH,
            0.97,
            "A model is bytes, and the file is opened for text: TypeError.",
            'Open it with "wb".',
            [facts.spans.replace(node, '"wb"')] if isinstance(node, ast.Constant) else [],
        )


def _bytes(value: Made) -> bool:
    """Whether a converter made it, or it is a message in its bytes."""
    owner = value.call.receiver
    converts = value.call.method == "convert" and isinstance(owner, Made) and "Converter" in owner.call.name
    return converts or value.call.method == "SerializeToString"


RULE = Rule(_run)
