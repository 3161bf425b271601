"""A metric asked for by a name that nothing has.

Why: Keras records a metric by the name it was compiled with. Since Keras 2.3 `metrics=["accuracy"]` is recorded as `accuracy` and
`val_accuracy`; `history["acc"]` is a KeyError, and a callback that watches `val_acc` never does anything (it only warns).
Example: `metrics=["accuracy"]` and `history.history["val_acc"]` or `EarlyStopping(monitor="val_acc")`.
Fix: the name that is recorded.
Source: the release notes of Keras 2.3; stackoverflow.com/questions/56026188; measured on Keras 3.15.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.models_built import metrics_of
from stethoscope.pasted.scripts.names import meaning
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Unknown, text

_CALLBACKS = frozenset(
    {"keras.callbacks.EarlyStopping", "keras.callbacks.ModelCheckpoint", "keras.callbacks.ReduceLROnPlateau"}
)
_TWINS = {"acc": "accuracy", "accuracy": "acc"}


def _run(facts: Facts) -> Iterator[Finding]:
    names: set[str] = set()
    known = bool(facts.models)
    for model in facts.models:
        for call in model.compiled:
            for value in metrics_of(call):
                name = text(value)
                known = known and name is not None and not isinstance(value, Unknown)
                names.add(name or "")
    if not known or not names or any(call.spread for model in facts.models for call in model.compiled):
        return
    seen: set[tuple[int, str]] = set()
    for line, node, key in [*_keys(facts), *_monitored(facts)]:
        plain = key.removeprefix("val_")
        other = _TWINS.get(plain)
        if plain in _TWINS and not any("acc" in name for name in names) and (line, key) not in seen:
            seen.add((line, key))
            yield facts.finding(
                line,
                Fault.METRIC,
                Severity.HIGH,
                0.9,
                f"The model is compiled with {', '.join(sorted(names))} as metrics: there is no {key!r} in the history or the logs.",
                "Name what is measured.",
            )
            continue
        if other is None or plain in names or other not in names or (line, key) in seen:
            continue
        seen.add((line, key))
        new = key.replace(plain, other)
        callback = not isinstance(node, ast.Subscript)
        what = "the callback never does anything" if callback else "the line raises KeyError"
        constant = node.slice if isinstance(node, ast.Subscript) else node
        quote = facts.spans.text(constant)[:1]
        yield facts.finding(
            line,
            Fault.METRIC,
            Severity.HIGH,
            0.93,
            f"The model is compiled with the metric {other!r}, so it is recorded as {new!r}; there is no {key!r}, and {what}.",
            f"Write {new!r}.",
            [facts.spans.replace(constant, f"{quote}{new}{quote}")] if quote in "'\"" else [],
        )


def _keys(facts: Facts) -> Iterator[tuple[int, ast.expr, str]]:
    for node in ast.walk(facts.parsed.tree):
        if (
            not isinstance(node, ast.Subscript)
            or not isinstance(node.slice, ast.Constant)
            or not isinstance(node.slice.value, str)
        ):
            continue
        owner = ast.unparse(node.value)
        if isinstance(node.ctx, ast.Load) and (
            owner.endswith(".history") or owner in ("history", "hist", "history_dict", "logs")
        ):
            yield node.slice.lineno, node, node.slice.value


def _monitored(facts: Facts) -> Iterator[tuple[int, ast.expr, str]]:
    for call in facts.calls:
        name = meaning(call.name)
        if name not in _CALLBACKS:
            continue
        node = next((one.value for one in call.call_node.keywords if one.arg == "monitor"), None)
        place = 1 if name.endswith("ModelCheckpoint") else 0
        if node is None and len(call.call_node.args) > place:
            node = call.call_node.args[place]
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node, node.value


RULE = Rule(_run)
