"""Rows that miss the scaler, or are brought back by another one.

Why: a model that was trained on scaled rows meets other numbers where `evaluate` or `predict` gets rows as they were read. What it
predicts is in the scale of its targets, so only the scaler of the targets brings it back.
Example: `model.fit(scaler.fit_transform(x_train), y_train)` and `model.evaluate(x_test, y_test)`; `x_scaler.inverse_transform(model.predict(x))`.
Fix: `scaler.transform(x_test)`; the scaler that was fitted on the targets.
Source: scikit-learn.org/stable/common_pitfalls.html ("Inconsistent preprocessing"); stackoverflow.com/questions/49330195.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.models_built import Model
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Call, Items, Made, Operation, Value, ancestors, calls_behind

_SCALERS = ("StandardScaler", "MinMaxScaler", "RobustScaler", "MaxAbsScaler", "QuantileTransformer", "PowerTransformer")


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for model in facts.models:
        fits = [call for call in model.calls("fit") if call.reached]
        given = [x for call in fits if (x := call.argument("x", 0)) is not None]
        if not given or not all(_scalings(x) for x in given):
            continue
        raw = {
            id(one.call)
            for x in given
            for call in _scalings(x)
            for one in ancestors(call.args[0])
            if isinstance(one, Made)
        }
        for call in (*model.calls("evaluate", "predict"), *fits):
            value = _others(call)
            if value is None or id(call.node) in done or not call.reached:
                continue
            behind = list(calls_behind(value))
            same = any(id(one) in raw for one in behind)
            if (
                same
                and not any(one.method in ("transform", "fit_transform") for one in behind)
                and not _reckoned(value)
            ):
                done.add(id(call.node))
                yield facts.finding(
                    call,
                    Fault.PREPROCESSING,
                    Severity.HIGH,
                    0.88,
                    f"The training rows went through a scaler, and those that {'validate' if call in fits else call.method + ' gets'} did not.",
                    "Transform them with the fitted scaler.",
                )
        yield from _back(facts, model, fits)


def _others(call: Call) -> Value | None:
    if call.method != "fit":
        return call.argument("x", 0)
    validation = call.argument("validation_data")
    return validation.items[0] if isinstance(validation, Items) and validation.items else None


def _scalings(value: Value) -> list[Call]:
    return [
        one
        for one in calls_behind(value)
        if one.method in ("fit_transform", "transform") and one.args and _kind(one.receiver) in _SCALERS
    ]


def _kind(value: Value | None) -> str:
    return value.call.name.rpartition(".")[2] if isinstance(value, Made) else ""


def _reckoned(value: Value) -> bool:
    return any(isinstance(one, Operation) for one in ancestors(value))


def _back(facts: Facts, model: Model, fits: list[Call]) -> Iterator[Finding]:
    """`inverse_transform` of a prediction by a scaler that the targets never went through."""
    targets = [y for call in fits if (y := call.argument("y", 1)) is not None]
    own = {id(one.receiver) for y in targets for one in _scalings(y)}
    inputs = {id(one.receiver) for call in fits if (x := call.argument("x", 0)) is not None for one in _scalings(x)}
    done: set[int] = set()
    for call in facts.methods("inverse_transform"):
        value = call.args[0] if call.args else None
        predicted = value.call if isinstance(value, Made) else None
        if predicted is None or predicted.method != "predict" or facts.model_of(predicted.receiver) is not model:
            continue
        if own and id(call.receiver) in inputs - own and id(call.node) not in done:
            done.add(id(call.node))
            yield facts.finding(
                call,
                Fault.PREPROCESSING,
                Severity.HIGH,
                0.9,
                "The targets were scaled by another scaler than the one that brings the predictions back.",
                "Use the scaler of the targets.",
            )


RULE = Rule(_run)
