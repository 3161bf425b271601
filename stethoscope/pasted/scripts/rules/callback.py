"""A callback that never does anything.

Why: a callback that watches `val_loss` needs validation data; one that is made and not given to `fit` is not called; with `mode="min"`
for an accuracy it keeps the worst weights.
Example: `EarlyStopping(monitor="val_loss")` and `model.fit(x, y, callbacks=[stop])` without validation; `mode="max"` for a loss.
Fix: give validation data; give the callback to `fit`; leave `mode` to Keras.
Source: keras.io/api/callbacks/early_stopping; stackoverflow.com/questions/43782409; Keras 3.15 only warns.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.checks.fixes.script_patch import Edit
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.names import meaning
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Call, Either, Items, Made, Param, Unknown, Value, is_const, number, text

_DEFAULT = {
    "keras.callbacks.EarlyStopping": "val_loss",
    "keras.callbacks.ModelCheckpoint": "val_loss",
    "keras.callbacks.ReduceLROnPlateau": "val_loss",
}
_PLACE = {"keras.callbacks.ModelCheckpoint": 1}


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for call in facts.calls:
        name = meaning(call.name)
        if name not in _DEFAULT or id(call.node) in done or call.spread:
            continue
        done.add(id(call.node))
        given = call.argument("monitor", _PLACE.get(name, 0))
        monitor = _DEFAULT[name] if given is None else text(given)
        if monitor is None:
            continue
        yield from _mode(facts, call, monitor)
        if _unused(facts, call):
            yield facts.finding(
                call,
                Fault.EPOCHS,
                Severity.MEDIUM,
                0.9,
                f"This {name.rpartition('.')[2]} is made, and nothing takes it: fit has to be given it.",
                "Give it to fit: callbacks=[…].",
            )
        fits = [
            one for model in facts.models for one in model.calls("fit") if _holds(one.argument("callbacks", 5), call)
        ]
        only_best = not name.endswith("ModelCheckpoint") or is_const(call.argument("save_best_only"), True)
        for fit in fits:
            if monitor.startswith("val_") and only_best and not _validated(fit):
                yield facts.finding(
                    call,
                    Fault.VALIDATION,
                    Severity.MEDIUM,
                    0.92,
                    f"{name.rpartition('.')[2]} watches {monitor}, but fit (line {facts.source.where(fit.line).rpartition(':')[2]}) has no validation data: it never does anything.",
                    "Give fit validation_data or validation_split, or watch loss.",
                )
                break
        if name.endswith("EarlyStopping") and not monitor.startswith("val_") and any(_validated(fit) for fit in fits):
            yield facts.finding(
                call,
                Fault.EPOCHS,
                Severity.LOW,
                0.8,
                f"EarlyStopping watches {monitor}, which is of the training rows: it says nothing of overfitting.",
                f"Watch val_{monitor}.",
                _watching(facts, call),
            )
        epochs = [value for fit in fits if (value := number(fit.argument("epochs"))) is not None]
        patience = number(call.argument("patience"))
        if name.endswith("EarlyStopping") and fits:
            if patience is not None and epochs and patience >= max(epochs):
                yield facts.finding(
                    call,
                    Fault.EPOCHS,
                    Severity.LOW,
                    0.9,
                    f"A patience of {patience:g} with {max(epochs):g} epochs: training never stops early.",
                    "Take a smaller patience.",
                )
            elif call.argument("restore_best_weights") is None and not any(
                meaning(one.name).endswith("ModelCheckpoint") for one in facts.calls
            ):
                yield facts.finding(
                    call,
                    Fault.EPOCHS,
                    Severity.INFO,
                    0.8,
                    "After stopping, the model keeps the weights of the last epoch, not of the best.",
                    "Say restore_best_weights=True.",
                    [facts.spans.add_argument(call.call_node, "restore_best_weights=True")],
                )


def _watching(facts: Facts, call: Call) -> list[Edit]:
    node = next((one.value for one in call.call_node.keywords if one.arg == "monitor"), None)
    said = node.value if isinstance(node, ast.Constant) else None
    return [facts.spans.replace(node, f'"val_{said}"')] if node is not None and isinstance(said, str) else []


def _unused(facts: Facts, call: Call) -> bool:
    """Whether it is put into a name that is never read."""
    for node in ast.walk(facts.parsed.tree):
        if isinstance(node, ast.Assign) and node.value is call.node and isinstance(node.targets[0], ast.Name):
            own = node.targets[0].id
            return not any(
                isinstance(one, ast.Name) and one.id == own and isinstance(one.ctx, ast.Load)
                for one in ast.walk(facts.parsed.tree)
            )
    return False


def _mode(facts: Facts, call: Call, monitor: str) -> Iterator[Finding]:
    mode = text(call.argument("mode"))
    own = monitor.removeprefix("val_")
    wrong = (
        "max"
        if own == "loss" or own in ("mse", "mae", "mean_squared_error", "mean_absolute_error")
        else "min"
        if own in ("accuracy", "acc", "auc", "binary_accuracy")
        else ""
    )
    if mode and mode == wrong:
        right = {"min": "max", "max": "min"}[mode]
        node = next(one.value for one in call.call_node.keywords if one.arg == "mode")
        yield facts.finding(
            call,
            Fault.EPOCHS,
            Severity.HIGH,
            0.95,
            f'mode="{mode}" for {monitor}: the callback takes the worst value for the best.',
            f'Say mode="{right}".',
            [facts.spans.replace(node, f'"{right}"')],
        )


def _holds(value: Value | None, call: Call) -> bool:
    if isinstance(value, Items):
        return any(isinstance(one, Made) and one.call.node is call.node for one in value.items)
    return isinstance(value, Made) and value.call.node is call.node


def _validated(fit: Call) -> bool:
    if fit.spread:
        return True
    data = fit.argument("validation_data", 7)
    split = fit.argument("validation_split", 6)
    if data is not None and not is_const(data, None):
        return True
    return split is not None and (isinstance(split, Unknown | Param | Either) or number(split) not in (0, 0.0))


RULE = Rule(_run)
