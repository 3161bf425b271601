"""A model is read from a file that the script did not write.

Why: a name with another ending is another file. Where there is one by chance it is an old one; where there is none an error is raised.
Example: `model.save("net.h5")` and `load_model("net.keras")`.
Fix: write and read one name.
Source: keras.io/api/models/model_saving_apis; raised by Keras 3.15 ("File not found").
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Call, text

_WRITES = {"save": 0, "save_weights": 0, "export": 0}
_ENDS = (".weights.h5", ".h5", ".hdf5", ".keras", ".ckpt", ".tf")


def _run(facts: Facts) -> Iterator[Finding]:
    written = {path: call for call in facts.calls if (path := _written(call))}
    done: set[int] = set()
    for call in facts.calls:
        read = text(call.argument("filepath", 0)) if call.method in ("load_model", "load_weights") else None
        path = read or ""
        if not path or path in written or id(call.node) in done or not call.call_node.args:
            continue
        weights = call.method == "load_weights"
        twins = [
            one
            for one, writer in written.items()
            if _stem(one) == _stem(path) and (writer.method == "save_weights" or "Checkpoint" in writer.name) >= weights
        ]
        if len(twins) != 1 or not path.endswith(_ENDS) or "{" in path:
            continue
        done.add(id(call.node))
        yield facts.finding(
            call,
            Fault.DEPLOYMENT,
            Severity.MEDIUM,
            0.9,
            f"{path[:80]!r} is read, and line {facts.source.where(written[twins[0]].line).rpartition(':')[2]} writes {twins[0][:80]!r}: it is not the same file.",
            "Read the file that is written.",
            [facts.spans.replace(call.call_node.args[0], f'"{twins[0]}"')] if '"' not in twins[0] else [],
        )


def _written(call: Call) -> str:
    if "ModelCheckpoint" in call.name:
        return text(call.argument("filepath", 0)) or ""
    if call.method in _WRITES and call.receiver is not None:
        return text(call.argument("filepath", 0)) or ""
    if call.method == "save_model":
        return text(call.argument("filepath", 1)) or ""
    return ""


def _stem(path: str) -> str:
    return next((path[: -len(end)] for end in _ENDS if path.endswith(end)), path)


RULE = Rule(_run)
