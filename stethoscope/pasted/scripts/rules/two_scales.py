"""A prediction in one scale is held against values in another.

Why: a model trained on scaled targets says scaled numbers. `inverse_transform` brings them back: it has to be applied to both sides, or to
none. An error between the two is no error of anything.
Example: `model.predict(x) - scaler.inverse_transform(y)`; `mean_squared_error(scaler.inverse_transform(y), model.predict(x))`.
Fix: `scaler.inverse_transform(model.predict(x))`.
Source: scikit-learn.org (inverse_transform); stackoverflow.com/questions/49330195.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Attribute, Cut, Element, Items, Made, Operation, Value, ancestors

_ERRORS = (
    "mean_squared_error",
    "mean_absolute_error",
    "r2_score",
    "mean_absolute_percentage_error",
    "root_mean_squared_error",
)
_SHAPES = frozenset({"flatten", "reshape", "ravel", "squeeze", "astype", "array", "asarray", "numpy", "expand_dims"})


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for call in facts.calls:
        pairs: list[tuple[int, Value, Value]] = []
        if call.name.endswith(_ERRORS) and len(call.args) == 2:
            pairs.append((call.line, *call.args))
        for value in (*call.args, *call.keywords.values()):
            pairs += [
                (one.line, one.left, one.right)
                for one in ancestors(value)
                if isinstance(one, Operation) and one.operator == "Sub" and one.line and one.line not in done
            ]
        for line, left, right in pairs:
            sides = {_side(facts, left), _side(facts, right)}
            if line in done or sides != {"back", "scaled"}:
                continue
            done.add(line)
            yield facts.finding(
                line,
                Fault.METRIC,
                Severity.HIGH,
                0.88,
                "One side was brought back by inverse_transform, and the other is still scaled: their difference is no error of anything.",
                "Bring both back.",
            )


def _side(facts: Facts, value: Value) -> str:
    """ "back" for what `inverse_transform` gives, "scaled" for a prediction or targets that are scaled still."""
    for _ in range(12):
        if isinstance(value, Element) and isinstance(value.key, Cut | Items):
            value = value.of
            continue
        if (
            isinstance(value, Element)
            and isinstance(value.of, Made)
            and value.of.call.name.endswith("train_test_split")
        ):
            return "scaled" if _scaled(value) else ""
        if isinstance(value, Element):
            value = value.of
            continue
        if isinstance(value, Attribute):
            value = value.of
            continue
        if not isinstance(value, Made):
            return "scaled" if isinstance(value, Items) and _scaled(value) else ""
        call = value.call
        if call.method == "inverse_transform":
            return "back"
        if call.method == "predict":
            model = facts.model_of(call.receiver)
            fits = [] if model is None else model.calls("fit")
            targets = [one.argument("y", 1) for one in fits]
            return "scaled" if targets and all(one is not None and _scaled(one) for one in targets) else ""
        if call.method not in _SHAPES:
            return ""
        value = call.receiver if call.receiver is not None else call.args[0] if call.args else call.function
    return ""


def _scaled(value: Value) -> bool:
    """Whether a scaler went over it, as far as its nearest values say."""
    return any(
        isinstance(one, Made)
        and one.call.method in ("fit_transform", "transform")
        and isinstance(one.call.receiver, Made)
        and "Scaler" in one.call.receiver.call.name
        for one in ancestors(value)
    )


RULE = Rule(_run)
