"""A layer or model of one's own that is put together wrongly.

Why: without `super().__init__()` Keras keeps no layers: RuntimeError. A `call` without `return` gives None. A tensor kept as a weight is not
trained and not saved. `training=True` written into `call` leaves dropout on, and batch normalisation on the batch, in prediction too.
`__len__` has to give a whole number.
Example: `class Net(keras.Model):` with `def __init__(self): self.dense = Dense(3)`; `def call(self, x): self.dense(x)`.
Fix: what the message says.
Source: keras.io/guides/making_new_layers_and_models_via_subclassing; keras.io/api/utils/python_utils (PyDataset); raised by Keras 3.15;
stackoverflow.com/questions/60704587.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.models_built import is_model_class
from stethoscope.pasted.scripts.names import meaning
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Class, Ref

_SEQUENCES = ("keras.utils.Sequence", "keras.utils.PyDataset")
_RANDOM = ("random.normal", "random.uniform", "random_normal", "random_uniform", "random.truncated_normal")


def _run(facts: Facts) -> Iterator[Finding]:
    for kind in facts.classes():
        layer = is_model_class(kind) or _derives(kind, ("keras.layers.Layer", "keras.Layer"))
        own = {one.name: one for one in kind.node.body if isinstance(one, ast.FunctionDef)}
        if layer and "__init__" in own:
            yield from _start(facts, kind, own["__init__"])
        if layer and "call" in own:
            yield from _call(facts, own["call"])
        if layer and "build" in own:
            yield from _build(facts, own)
        if _derives(kind, _SEQUENCES) and "__len__" in own:
            yield from _length(facts, own["__len__"])


def _derives(kind: Class, names: tuple[str, ...], depth: int = 0) -> bool:
    return any(
        (isinstance(base, Ref) and meaning(base.name) in names)
        or (isinstance(base, Class) and depth < 5 and _derives(base, names, depth + 1))
        for base in kind.bases
    )


def _start(facts: Facts, kind: Class, start: ast.FunctionDef) -> Iterator[Finding]:
    calls = [ast.unparse(one.func) for one in ast.walk(start) if isinstance(one, ast.Call)]
    kept = next(
        (
            one
            for one in start.body
            if isinstance(one, ast.Assign)
            and any(isinstance(to, ast.Attribute) and ast.unparse(to.value) == "self" for to in one.targets)
        ),
        None,
    )
    if kept is not None and not any("__init__" in one for one in calls):
        within = facts.spans.text(start.body[0])
        yield facts.finding(
            kept.lineno,
            Fault.ARCHITECTURE,
            Severity.CRITICAL,
            0.95,
            f"{kind.node.name}.__init__ does not call super().__init__(): Keras raises an error at the first layer that is kept.",
            "Call super().__init__() first.",
            [facts.spans.replace(start.body[0], f"super().__init__()\n{' ' * start.body[0].col_offset}{within}")]
            if start.body[0].lineno > start.lineno
            else [],
        )


def _call(facts: Facts, call: ast.FunctionDef) -> Iterator[Finding]:
    body = [one for one in call.body if not isinstance(one, ast.Expr) or not isinstance(one.value, ast.Constant)]
    ends = [one for one in ast.walk(call) if isinstance(one, ast.Return | ast.Raise | ast.Yield)]
    if body and not ends and not isinstance(body[-1], ast.Pass):
        last = body[-1]
        edits = []
        if isinstance(last, ast.Expr):
            edits = [facts.spans.replace(last, f"return {facts.spans.text(last)}")]
        yield facts.finding(
            last.lineno if isinstance(last, ast.Expr) else call.lineno,
            Fault.ARCHITECTURE,
            Severity.CRITICAL,
            0.93,
            "call returns nothing: the layer or model gives None.",
            "Return what it computes.",
            edits,
        )
    if "mc" in call.name.lower():
        return
    names = {one.arg for one in (*call.args.args, *call.args.kwonlyargs)}
    for one in ast.walk(call):
        fixed = [
            word
            for word in (one.keywords if isinstance(one, ast.Call) else ())
            if word.arg == "training" and isinstance(word.value, ast.Constant) and word.value.value is True
        ]
        if fixed and "training" in names:
            yield facts.finding(
                fixed[0].value.lineno,
                Fault.REGULARISATION,
                Severity.MEDIUM,
                0.85,
                "training=True is written into call, which is told by its own argument whether it trains: in prediction too the layer works as in training.",
                "Hand on training=training.",
                [facts.spans.replace(fixed[0].value, "training")],
            )


def _build(facts: Facts, own: dict[str, ast.FunctionDef]) -> Iterator[Finding]:
    for one in ast.walk(own["build"]):
        if not isinstance(one, ast.Assign) or not isinstance(one.value, ast.Call):
            continue
        made = ast.unparse(one.value.func)
        if made.endswith(_RANDOM) and any(ast.unparse(to).startswith("self.") for to in one.targets):
            yield facts.finding(
                one.lineno,
                Fault.ARCHITECTURE,
                Severity.HIGH,
                0.9,
                f"{made} gives a tensor, no variable: this weight is neither trained nor saved.",
                "Make it by self.add_weight(shape=…).",
            )


def _length(facts: Facts, length: ast.FunctionDef) -> Iterator[Finding]:
    for one in ast.walk(length):
        value = one.value if isinstance(one, ast.Return) else None
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Div):
            yield facts.finding(
                value.lineno,
                Fault.DATA,
                Severity.HIGH,
                0.95,
                "__len__ gives a number with a fraction: TypeError.",
                "Round up: math.ceil(…).",
                [facts.spans.replace(value, f"int({facts.spans.text(value)})")],
            )


RULE = Rule(_run)
