"""Windows of a series, split at random.

Why: windows of a series overlap. Split at random, nearly every test window has its neighbours in the training, and the score is that of
rows which were seen.
Example: windows made by `x.append(series[i : i + 24])` and `train_test_split(x, y)` without `shuffle=False`.
Fix: split in time.
Source: Kapoor & Narayanan, "Leakage and the reproducibility crisis" (Patterns 2023): temporal leakage; stackoverflow.com/questions/74025273.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.names import meaning
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Made, is_const


def _run(facts: Facts) -> Iterator[Finding]:
    windows = _window_functions(facts)
    cuts = _Cuts(facts)
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
                call,
                Fault.VALIDATION,
                Severity.HIGH,
                0.85,
                "Windows of a series that overlap are split at random: nearly every test window has its neighbours in the training.",
                "Split in time: shuffle=False.",
                [facts.spans.add_argument(call.call_node, "shuffle=False")] if shuffle is None else [],
            )
    for call in facts.calls:
        if (
            call.name in ("numpy.random.shuffle", "random.shuffle")
            and call.call_node.args
            and id(call.node) not in done
        ):
            own = call.call_node.args[0]
            if isinstance(own, ast.Name) and own.id in windows and cuts.below(own.id, call.line):
                done.add(id(call.node))
                yield facts.finding(
                    call,
                    Fault.VALIDATION,
                    Severity.HIGH,
                    0.85,
                    "Windows of a series that overlap are shuffled, and rows for validation or test are taken after that: "
                    "nearly every one has its neighbours in the training.",
                    "Take them first, in time, and shuffle the training windows only.",
                )
    yield from _permuted(facts, windows, cuts)
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
                    call,
                    Fault.VALIDATION,
                    Severity.HIGH,
                    0.85,
                    "Windows of a series are shuffled and then split: they overlap, so validation windows have their neighbours in the training.",
                    "Split the series first, in time.",
                )


def _permuted(facts: Facts, windows: set[str], cuts: _Cuts) -> Iterator[Finding]:
    """`order = np.random.permutation(len(x))`, `x = x[order]`, and rows for validation taken after that."""
    if not windows:
        return
    orders: set[str] = set()
    for node in facts.nodes(ast.Assign):
        if isinstance(node.value, ast.Call) and _draws(node.value):
            orders |= {one.id for one in node.targets if isinstance(one, ast.Name)}
    for call in facts.nodes(ast.Call):
        if call.args and ast.unparse(call.func).endswith("random.shuffle"):
            orders |= {one.id for one in call.args[:1] if isinstance(one, ast.Name) and one.id not in windows}
    done: set[str] = set()
    for node in facts.nodes(ast.Assign):
        for piece in ast.walk(node.value):
            drawn = isinstance(piece, ast.Subscript) and (
                (isinstance(piece.slice, ast.Name) and piece.slice.id in orders)
                or (isinstance(piece.slice, ast.Call) and _draws(piece.slice))
            )
            if not isinstance(piece, ast.Subscript) or not isinstance(piece.value, ast.Name) or not drawn:
                continue
            own = piece.value.id
            given = {own} | {one.id for to in node.targets for one in ast.walk(to) if isinstance(one, ast.Name)}
            if own not in windows or done & given or not any(cuts.below(one, node.lineno) for one in given):
                continue
            done |= given
            yield facts.finding(
                node.lineno,
                Fault.VALIDATION,
                Severity.HIGH,
                0.85,
                "Windows of a series that overlap are put into a random order, and rows for validation or test are taken after that: "
                "nearly every one has its neighbours in the training.",
                "Take them first, in time, and shuffle the training windows only.",
            )


def _draws(call: ast.Call) -> bool:
    return ast.unparse(call.func).endswith((".permutation", "random.shuffle")) and "Dataset" not in ast.unparse(call)


class _Cuts:
    """Where rows are taken out of what has a name, or `fit` takes some."""

    def __init__(self, facts: Facts) -> None:
        self._last: dict[str, int] = {}
        for node in facts.nodes(ast.Subscript):
            if isinstance(node.slice, ast.Slice) and isinstance(node.value, ast.Name):
                self._last[node.value.id] = max(node.lineno, self._last.get(node.value.id, 0))
        self._split = max((one.lineno for one in facts.nodes(ast.keyword) if one.arg == "validation_split"), default=0)

    def below(self, name: str, line: int) -> bool:
        """Whether that is so below a line."""
        return max(self._last.get(name, 0), self._split) > line


def _window_functions(facts: Facts) -> set[str]:
    """Names that are filled, in a loop, with slices `series[i : i + n]`, here or in a function whose result they are."""
    found: set[str] = set()
    makers: set[str] = set()
    slides = "sliding_window_view(" in facts.source.text
    queue: list[tuple[ast.AST, tuple[str, ...], bool]] = [(facts.parsed.tree, (), False)]
    while queue:
        node, functions, in_loop = queue.pop()
        if isinstance(node, ast.FunctionDef):
            functions = (*functions, node.name)
        if isinstance(node, ast.For):
            in_loop = in_loop or not _apart(node)
        name = _appends_window(node)
        if name:
            makers |= set(functions)
            found |= {name} if in_loop else set()
        queue.extend((child, functions, in_loop) for child in ast.iter_child_nodes(node))
    rows = [_given(node, slides) for node in facts.nodes(ast.Assign)]
    for _ in range(3):
        for given in rows:
            if given.cut or given.called & makers or (given.passes and given.used & found):
                found |= given.names
    return found


@dataclass(frozen=True)
class _Given:
    """What an assignment gives its names."""

    names: set[str]
    used: set[str]
    called: set[str]
    cut: bool
    """It is a list of windows."""
    passes: bool
    """It may hand windows on."""


def _given(node: ast.Assign, slides: bool) -> _Given:
    inner = list(ast.walk(node.value))
    listed = [one for one in inner if isinstance(one, ast.ListComp)]
    cut = any(_is_window(one.elt) and len(one.generators) == 1 for one in listed)
    return _Given(
        names={one.id for target in node.targets for one in ast.walk(target) if isinstance(one, ast.Name)},
        used={one.id for one in inner if isinstance(one, ast.Name)},
        called={one.func.id for one in inner if isinstance(one, ast.Call) and isinstance(one.func, ast.Name)},
        cut=cut or (slides and "sliding_window_view(" in ast.unparse(node.value)),
        passes=isinstance(node.value, ast.Call | ast.Tuple),
    )


def _appends_window(node: ast.AST) -> str:
    if (
        not isinstance(node, ast.Call)
        or not isinstance(node.func, ast.Attribute)
        or node.func.attr != "append"
        or not node.args
    ):
        return ""
    owner = node.func.value
    return owner.id if isinstance(owner, ast.Name) and _is_window(node.args[0]) else ""


def _apart(loop: ast.For) -> bool:
    """Whether a loop steps by the length of its windows: they do not overlap."""
    over = loop.iter
    if not isinstance(over, ast.Call) or ast.unparse(over.func) != "range" or len(over.args) < 3:
        return False
    step = ast.unparse(over.args[2])
    cuts = [
        one for one in ast.walk(loop) if isinstance(one, ast.Slice) and one.lower is not None and one.upper is not None
    ]
    return any(step == ast.unparse(part) for cut in cuts for part in ast.walk(cut) if isinstance(part, ast.expr))


def _is_window(piece: ast.expr) -> bool:
    """Whether it is `series[i : i + n]`."""
    while isinstance(piece, ast.Attribute | ast.Call):
        piece = piece.value if isinstance(piece, ast.Attribute) else piece.func
    if not isinstance(piece, ast.Subscript):
        return False
    cut = piece.slice.elts[0] if isinstance(piece.slice, ast.Tuple) and piece.slice.elts else piece.slice
    if not isinstance(cut, ast.Slice) or cut.lower is None or cut.upper is None:
        return False
    first = {one.id for one in ast.walk(cut.lower) if isinstance(one, ast.Name)}
    last = {one.id for one in ast.walk(cut.upper) if isinstance(one, ast.Name)}
    return bool(first & last)


RULE = Rule(_run, same_as=frozenset({"split-difference"}))
