"""What belongs to the test gets into the training.

Why: a score says something only about rows that the training has not seen. A scaler fitted on the test rows, windows that overlap and are
split at random, a dataset that is shuffled anew before each `take` and `skip`, test rows in `fit`: the score is too good, and later
it is missed.
Example: `x_test = scaler.fit_transform(x_test)`; `model.fit(x_test, y_test)`; `ds = ds.shuffle(1000)`, `ds.take(800)`, `ds.skip(800)`.
Fix: fit on the training rows, transform the others; split series in time; `reshuffle_each_iteration=False`.
Source: scikit-learn.org/stable/common_pitfalls.html (data leakage); tensorflow.org/api_docs/python/tf/data/Dataset (shuffle);
Kapoor & Narayanan, "Leakage and the reproducibility crisis" (Patterns 2023).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.models_built import Model
from stethoscope.pasted.scripts.names import meaning
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.splits import part_of_split
from stethoscope.pasted.scripts.values import (
    Call,
    Const,
    Items,
    Made,
    Value,
    ancestors,
    calls_behind,
    is_const,
    number,
    text,
)

_SCALERS = frozenset({"StandardScaler", "MinMaxScaler", "RobustScaler", "MaxAbsScaler", "Normalizer", "QuantileTransformer", "PowerTransformer",
                      "PCA", "SimpleImputer", "TfidfVectorizer", "CountVectorizer", "LabelEncoder", "OneHotEncoder"})  # fmt: skip
_SETS_SCALE = _SCALERS - {"Normalizer", "LabelEncoder", "OneHotEncoder"}
_TEST = re.compile(r"(?:^|_)(?:test|tst|val|valid|validation|holdout)(?:$|_|s$)|[Xxy]_?te(?:st)?$|(?:^|_)te$")


def _run(facts: Facts) -> Iterator[Finding]:
    yield from _scalers(facts)
    yield from _fitted_on_test(facts)
    yield from _reshuffled(facts)
    yield from _windows(facts)
    yield from _subsets(facts)


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
                call, Fault.PREPROCESSING, Severity.HIGH, 0.93,
                f"{kind} is fitted anew on {written[:60]}: the test rows are scaled by their own numbers, not as the training rows were.",
                "Call transform here.", [facts.spans.rename_last(call.call_node.func, "transform")],
            )  # fmt: skip
        elif kind in _SETS_SCALE and before is None and call.call_node.args:
            later = next(
                (
                    split
                    for split in splits
                    if split.order > call.order and any(_comes_from(value, call) for value in split.args)
                ),
                None,
            )
            if later is not None:
                yield facts.finding(
                    call, Fault.PREPROCESSING, Severity.MEDIUM, 0.8,
                    f"{kind} is fitted on all rows, and only line {facts.source.where(later.line).rpartition(':')[2]} splits them: it has seen the test rows.",
                    "Split first, fit on the training rows, and transform the others.",
                )  # fmt: skip


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
                    call, Fault.VALIDATION, Severity.HIGH, 0.85 if trained else 0.8,
                    "The model is trained on the test part of the data: no score on it says anything.",
                    "Train on the training part.",
                )  # fmt: skip
            validation = call.argument("validation_data")
            if (
                isinstance(validation, Items)
                and validation.items
                and x is not None
                and validation.items[0] is x
                and not isinstance(x, Const)
            ):
                yield facts.finding(
                    call, Fault.VALIDATION, Severity.HIGH, 0.93,
                    "validation_data are the training rows themselves: val_loss follows loss, and overfitting is not seen.",
                    "Hold rows out, for example with validation_split=0.2.",
                )  # fmt: skip
            elif validation is not None and validation is x and isinstance(x, Made):
                yield facts.finding(
                    call, Fault.VALIDATION, Severity.HIGH, 0.93,
                    "validation_data is the training data itself: val_loss follows loss, and overfitting is not seen.",
                    "Hold rows out.",
                )  # fmt: skip


def _scored(model: Model, x: Value | None) -> bool:
    return any(call.argument("x", 0) is x for call in model.calls("evaluate"))


def _side(value: Value | None) -> int | None:
    found = part_of_split(value)
    return None if found is None else found.part


def _reshuffled(facts: Facts) -> Iterator[Finding]:
    taken: dict[int, list[Call]] = {}
    for call in facts.calls:
        if call.method in ("take", "skip") and isinstance(call.receiver, Made):
            taken.setdefault(id(call.receiver.call), []).append(call)
    done: set[int] = set()
    for calls in taken.values():
        if {call.method for call in calls} != {"take", "skip"}:
            continue
        for step in calls_behind(calls[0].receiver) if calls[0].receiver is not None else ():
            if step.method == "shuffle" and step.receiver is not None and id(step.node) not in done:
                again = step.argument("reshuffle_each_iteration", 2)
                if again is not None and not is_const(again, True):
                    break
                done.add(id(step.node))
                yield facts.finding(
                    step, Fault.VALIDATION, Severity.MEDIUM, 0.88,
                    f"The dataset is shuffled anew each time it is read, so take and skip (line {facts.source.where(calls[0].line).rpartition(':')[2]}) give other rows each epoch: the validation rows are trained on.",
                    "Say reshuffle_each_iteration=False.",
                    [facts.spans.add_argument(step.call_node, "reshuffle_each_iteration=False")] if again is None else [],
                )  # fmt: skip
                break
            if step.method in ("cache",):
                break


def _windows(facts: Facts) -> Iterator[Finding]:
    windows = _window_functions(facts)
    done: set[int] = set()
    for call in facts.calls:
        if not call.name.endswith("train_test_split") or id(call.node) in done:
            continue
        done.add(id(call.node))
        shuffle = call.argument("shuffle")
        if (shuffle is not None and not is_const(shuffle, True)) or not call.args:
            continue
        written = {name.id for arg in call.call_node.args for name in ast.walk(arg) if isinstance(name, ast.Name)}
        if written & windows:
            yield facts.finding(
                call, Fault.VALIDATION, Severity.HIGH, 0.85,
                "Windows of a series that overlap are split at random: nearly every test window has its neighbours in the training.",
                "Split in time: shuffle=False.",
                [facts.spans.add_argument(call.call_node, "shuffle=False")] if shuffle is None else [],
            )  # fmt: skip
    for call in facts.calls:
        if (
            meaning(call.name)
            in ("keras.utils.timeseries_dataset_from_array", "keras.preprocessing.timeseries_dataset_from_array")
            and is_const(call.argument("shuffle"), True)
            and call.reached
        ):
            halves = [
                one
                for one in facts.calls
                if one.method in ("take", "skip") and isinstance(one.receiver, Made) and one.receiver.call is call
            ]
            if {one.method for one in halves} == {"take", "skip"}:
                yield facts.finding(
                    call, Fault.VALIDATION, Severity.HIGH, 0.85,
                    "Windows of a series are shuffled and then split: they overlap, so validation windows have their neighbours in the training.",
                    "Split the series first, in time.",
                )  # fmt: skip


def _window_functions(facts: Facts) -> set[str]:
    """Names that are filled, in a loop, with slices `series[i : i + n]`, here or in a function whose result they are."""
    found: set[str] = set()
    makers: set[str] = set()
    for node in ast.walk(facts.parsed.tree):
        if isinstance(node, ast.FunctionDef) and any(_appends_window(one) for one in ast.walk(node)):
            makers.add(node.name)
    for node in ast.walk(facts.parsed.tree):
        if isinstance(node, ast.For):
            found |= {name for one in ast.walk(node) if (name := _appends_window(one))}
    for _ in range(3):
        for node in ast.walk(facts.parsed.tree):
            if not isinstance(node, ast.Assign):
                continue
            called = {
                one.func.id
                for one in ast.walk(node.value)
                if isinstance(one, ast.Call) and isinstance(one.func, ast.Name)
            }
            used = {one.id for one in ast.walk(node.value) if isinstance(one, ast.Name)}
            names = {one.id for target in node.targets for one in ast.walk(target) if isinstance(one, ast.Name)}
            if called & makers or (names and used & found and isinstance(node.value, ast.Call | ast.Tuple)):
                found |= names
    return found


def _appends_window(node: ast.AST) -> str:
    if (
        not isinstance(node, ast.Call)
        or not isinstance(node.func, ast.Attribute)
        or node.func.attr != "append"
        or not node.args
    ):
        return ""
    piece = node.args[0]
    while isinstance(piece, ast.Attribute | ast.Call):
        piece = piece.value if isinstance(piece, ast.Attribute) else piece.func
    if not isinstance(piece, ast.Subscript):
        return ""
    cut = piece.slice.elts[0] if isinstance(piece.slice, ast.Tuple) and piece.slice.elts else piece.slice
    if not isinstance(cut, ast.Slice) or cut.lower is None or cut.upper is None:
        return ""
    first = {one.id for one in ast.walk(cut.lower) if isinstance(one, ast.Name)}
    last = {one.id for one in ast.walk(cut.upper) if isinstance(one, ast.Name)}
    owner = node.func.value
    return owner.id if first & last and isinstance(owner, ast.Name) else ""


def _subsets(facts: Facts) -> Iterator[Finding]:
    """The two subsets of one folder, drawn with other seeds, or with none."""
    halves = [
        call
        for call in facts.calls
        if meaning(call.name).endswith("_dataset_from_directory")
        and text(call.argument("subset")) in ("training", "validation")
    ]
    done: set[int] = set()
    for call in halves:
        if id(call.node) in done or call.spread:
            continue
        done.add(id(call.node))
        seed = call.argument("seed")
        if seed is None and not is_const(call.argument("shuffle"), False):
            yield facts.finding(
                call, Fault.VALIDATION, Severity.HIGH, 0.95,
                "A subset of shuffled files needs a seed, the same for both subsets: without it Keras raises ValueError.",
                "Give both seed=1.", [facts.spans.add_argument(call.call_node, "seed=1")],
            )  # fmt: skip
    seeds = {value for call in halves if (value := number(call.argument("seed"))) is not None}
    if len(halves) == 2 and len(seeds) == 2:
        yield facts.finding(
            halves[1], Fault.VALIDATION, Severity.HIGH, 0.93,
            "The two subsets are drawn with different seeds: they overlap, and validation files are trained on.",
            "Give both the same seed.",
        )  # fmt: skip


RULE = Rule(_run, same_as=frozenset({"split-difference", "validation-better"}))
