"""Rows of the test get into the training, or into what prepares it.

Why: a score says something only about rows that the training has not seen. A scaler fitted on the test rows, test rows in `fit`, or a
validation on the training rows: the score is too good, and later it is missed.
Example: `x_test = scaler.fit_transform(x_test)`; `model.fit(x_test, y_test)`; `validation_data=(x_train, y_train)`.
Fix: fit on the training rows, and transform the others.
Source: scikit-learn.org/stable/common_pitfalls.html (data leakage); Kapoor & Narayanan, "Leakage and the reproducibility crisis"
(Patterns 2023).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.models_built import Model
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.splits import part_of_split
from stethoscope.pasted.scripts.values import (
    Call,
    Const,
    Cut,
    Element,
    Items,
    Made,
    Value,
    ancestors,
    calls_behind,
    number,
)

_SCALERS = frozenset(
    {
        "StandardScaler",
        "MinMaxScaler",
        "RobustScaler",
        "MaxAbsScaler",
        "Normalizer",
        "QuantileTransformer",
        "PowerTransformer",
        "PCA",
        "SimpleImputer",
        "KNNImputer",
        "SelectKBest",
        "SelectPercentile",
        "RFE",
        "LinearDiscriminantAnalysis",
        "TfidfVectorizer",
        "CountVectorizer",
        "LabelEncoder",
        "OneHotEncoder",
    }
)
_SETS_SCALE = _SCALERS - {"Normalizer", "LabelEncoder", "OneHotEncoder"}
_JOINS = frozenset({"numpy.concatenate", "numpy.vstack", "numpy.append", "tensorflow.concat", "pandas.concat"})
_TEST = re.compile(r"(?:^|_)(?:test|tst|val|valid|validation|holdout)(?:$|_|s$)|[Xxy]_?te(?:st)?$|(?:^|_)te$")


def _run(facts: Facts) -> Iterator[Finding]:
    yield from _scalers(facts)
    yield from _fitted_on_test(facts)
    yield from _adapted(facts)


def _scalers(facts: Facts) -> Iterator[Finding]:
    fitted: dict[int, Call] = {}
    done: set[int] = set()
    splits = [call for call in facts.calls if call.name.endswith("train_test_split")]
    for call in facts.calls:
        if call.method not in ("fit", "fit_transform") or not isinstance(call.receiver, Made) or id(call.node) in done:
            continue
        kind = call.receiver.call.name.rpartition(".")[2]
        if kind not in _SCALERS or call.name != "" or not call.call_node.args:
            continue
        done.add(id(call.node))
        written = facts.spans.text(call.call_node.args[0])
        before = fitted.get(id(call.receiver))
        fitted[id(call.receiver)] = call
        if _TEST.search(_last(written)) and before is not None and call.method == "fit_transform":
            yield facts.finding(
                call,
                Fault.PREPROCESSING,
                Severity.HIGH,
                0.93,
                f"{kind} is fitted anew on {written[:60]}: the test rows are scaled by their own numbers, not as the training rows were.",
                "Call transform here.",
                [facts.spans.rename_last(call.call_node.func, "transform")],
            )
        elif kind in _SETS_SCALE and before is None and call.call_node.args:
            later = next(
                (
                    split
                    for split in splits
                    if split.order > call.order and any(_comes_from(value, call) for value in split.args)
                ),
                None,
            )
            cut = None if later is not None else _cut_line(facts, call)
            held = None if later is not None or cut else _split_of_fit(facts, call)
            if held is not None:
                yield facts.finding(
                    call,
                    Fault.PREPROCESSING,
                    Severity.MEDIUM,
                    0.75,
                    f"{kind} is fitted on all rows, and validation_split in line {facts.source.where(held.line).rpartition(':')[2]} takes some of them for validation: it has seen them.",
                    "Take the validation rows first, fit on the others, and transform both.",
                )
            if cut:
                yield facts.finding(
                    call,
                    Fault.PREPROCESSING,
                    Severity.MEDIUM,
                    0.8,
                    f"{kind} is fitted on all rows, and only line {cut} cuts them in two: it has seen the test rows.",
                    "Cut first, fit on the training rows, and transform the others.",
                )
            if later is not None:
                yield facts.finding(
                    call,
                    Fault.PREPROCESSING,
                    Severity.MEDIUM,
                    0.8,
                    f"{kind} is fitted on all rows, and only line {facts.source.where(later.line).rpartition(':')[2]} splits them: it has seen the test rows.",
                    "Split first, fit on the training rows, and transform the others.",
                )


def _split_of_fit(facts: Facts, call: Call) -> Call | None:
    """The `fit` that takes its validation from the rows that a scaler was fitted on, if those were all rows."""
    given = call.args[0]
    written = facts.spans.text(call.call_node.args[0])
    if (
        "train" in written.lower()
        or any(isinstance(one, Cut) for one in _keys(given))
        or part_of_split(given) is not None
    ):
        return None
    for model in facts.models:
        for fit in model.calls("fit"):
            x = fit.argument("x", 0)
            if number(fit.argument("validation_split", 6)) and x is not None and _comes_from(x, call):
                return fit
    return None


def _keys(value: Value) -> list[Value]:
    return [one.key for one in ancestors(value) if isinstance(one, Element) and one.key is not None]


def _same_cut(fit: Call) -> bool:
    """Whether `x[:n]` is written for the training and for the validation."""
    given = next((one.value for one in fit.call_node.keywords if one.arg == "validation_data"), None)
    first = given.elts[0] if isinstance(given, ast.Tuple) and given.elts else None
    x = next(iter(fit.call_node.args), None)
    return isinstance(first, ast.Subscript) and isinstance(x, ast.Subscript) and ast.dump(first) == ast.dump(x)


def _cut_line(facts: Facts, call: Call) -> str:
    """The line where what a scaler gives is cut in two, `rows[:n]` and `rows[n:]`; "" where it is not."""
    names: set[str] = set()
    firsts: dict[tuple[str, str], int] = {}
    for node in ast.walk(facts.parsed.tree):
        if isinstance(node, ast.Assign) and call.node in ast.walk(node.value):
            names |= {one.id for target in node.targets for one in ast.walk(target) if isinstance(one, ast.Name)}
    for node in ast.walk(facts.parsed.tree):
        if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name) or node.value.id not in names:
            continue
        cut = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) and node.slice.elts else node.slice
        if not isinstance(cut, ast.Slice) or node.lineno <= call.line or (cut.lower is None) == (cut.upper is None):
            continue
        bound = cut.lower if cut.upper is None else cut.upper
        assert bound is not None
        key = (node.value.id, ast.unparse(bound))
        side = 0 if cut.lower is None else 1
        if firsts.setdefault(key, side) != side:
            return facts.source.where(node.lineno).rpartition(":")[2]
    return ""


def _adapted(facts: Facts) -> Iterator[Finding]:
    """A tokenizer or a layer that is fitted on the test rows too."""
    before: set[int] = set()
    done: set[int] = set()
    for call in facts.calls:
        if (
            call.method not in ("fit_on_texts", "adapt")
            or not isinstance(call.receiver, Made)
            or not call.call_node.args
        ):
            continue
        written = facts.spans.text(call.call_node.args[0])
        again = id(call.receiver.call) in before
        if (
            before
            and not again
            and call.method == "fit_on_texts"
            and any(_TEST.search(part) for part in re.split(r"\W+", written))
            and id(call.node) not in done
        ):
            done.add(id(call.node))
            yield facts.finding(
                call,
                Fault.PREPROCESSING,
                Severity.HIGH,
                0.88,
                f"Another tokenizer is fitted on {written[:60]}: its numbers stand for other words than those of the training.",
                "Use the tokenizer of the training.",
            )
        before.add(id(call.receiver.call))
        if again and id(call.node) not in done and _TEST.search(_last(written)):
            done.add(id(call.node))
            yield facts.finding(
                call,
                Fault.PREPROCESSING,
                Severity.HIGH,
                0.88,
                f"{call.method} is called again with {written[:60]}: what was learned of the training rows is changed by the test rows.",
                "Leave the line out.",
                [facts.spans.without_rows(call.line, call.call_node.end_lineno or call.line)]
                if _whole_line(facts, call)
                else [],
            )


def _whole_line(facts: Facts, call: Call) -> bool:
    return facts.source.code_at(call.line) == facts.spans.text(call.call_node)


def _comes_from(value: Value, call: Call) -> bool:
    return any(
        isinstance(one, Made)
        and (one.call is call or (one.call.method == "transform" and one.call.receiver is call.receiver))
        for one in ancestors(value)
    )


def _last(written: str) -> str:
    return re.split(r"[\[(]", written)[0].rpartition(".")[2]


def _fitted_on_test(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for model in facts.models:
        fits = [call for call in model.calls("fit") if call.reached]
        for call in fits:
            if id(call.node) in done:
                continue
            done.add(id(call.node))
            x = call.argument("x", 0)
            side = _side(x)
            if side == 1 and not any(
                _side(other.argument("x", 0)) == 0 for other in fits if other is not call and other.order < call.order
            ):
                trained = _scored(model, x)
                yield facts.finding(
                    call,
                    Fault.VALIDATION,
                    Severity.HIGH,
                    0.85 if trained else 0.8,
                    "The model is trained on the test part of the data: no score on it says anything.",
                    "Train on the training part.",
                )
            if x is not None and any(_within(test.argument("x", 0), x) for test in model.calls("evaluate")):
                yield facts.finding(
                    call,
                    Fault.VALIDATION,
                    Severity.HIGH,
                    0.85,
                    "The training rows hold the test part too, which evaluate is given: the score is that of rows which were seen.",
                    "Leave the test part out of the training.",
                )
            validation = call.argument("validation_data")
            if (
                isinstance(validation, Items)
                and validation.items
                and x is not None
                and (validation.items[0] is x or _same_cut(call))
                and not isinstance(x, Const)
            ):
                yield facts.finding(
                    call,
                    Fault.VALIDATION,
                    Severity.HIGH,
                    0.93,
                    "validation_data are the training rows themselves: val_loss follows loss, and overfitting is not seen.",
                    "Hold rows out, for example with validation_split=0.2.",
                )
            elif validation is not None and validation is x and isinstance(x, Made):
                yield facts.finding(
                    call,
                    Fault.VALIDATION,
                    Severity.HIGH,
                    0.93,
                    "validation_data is the training data itself: val_loss follows loss, and overfitting is not seen.",
                    "Hold rows out.",
                )


def _within(test: Value | None, trained: Value) -> bool:
    """Whether the part that is tested is joined into what is trained on."""
    part = part_of_split(test)
    if part is None or part.part != 1 or part_of_split(trained) is not None:
        return False
    joined = [call for call in calls_behind(trained) if call.name in _JOINS]
    parts = {
        (id(found.split), found.part)
        for call in joined
        for value in (call.args[0].items if call.args and isinstance(call.args[0], Items) else call.args)
        if (found := part_of_split(value)) is not None
    }
    return {(id(part.split), 0), (id(part.split), 1)} <= parts


def _scored(model: Model, x: Value | None) -> bool:
    return any(call.argument("x", 0) is x for call in model.calls("evaluate"))


def _side(value: Value | None) -> int | None:
    found = part_of_split(value)
    return None if found is None else found.part


RULE = Rule(_run, same_as=frozenset({"split-difference", "validation-better"}))
