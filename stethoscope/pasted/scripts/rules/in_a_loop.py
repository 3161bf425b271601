"""Work in a loop that belongs outside it, or grows with every turn.

Why: `predict` is made for many rows at once: called for one row at a time it prepares a loop of its own each time, a hundred times slower,
and its memory grows. A model compiled anew in each turn forgets its optimizer; models built in a loop stay in memory until they are cleared.
Example: `for x in rows: model.predict(x[None])`; `for epoch in range(50): model.compile(…); model.fit(…)`.
Fix: predict all rows at once, or call `model(x)`; compile once; `keras.backend.clear_session()`.
Source: keras.io/api/models/model_training_apis (predict: "for small numbers of inputs … use __call__"); github.com/tensorflow/tensorflow/issues/44711.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.names import meaning
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Call


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    cleared = any(meaning(call.name).endswith("clear_session") for call in facts.calls)
    for model in facts.models:
        inner = set(map(id, model.call.loops))
        for call in model.used:
            own = [
                loop
                for loop in call.loops
                if id(loop) not in inner and isinstance(loop, ast.For | ast.While | ast.ListComp)
            ]
            if id(call.node) in done or not own:
                continue
            done.add(id(call.node))
            if call.method in ("predict", "evaluate") and not _trains(model.used, own):
                yield facts.finding(
                    call,
                    Fault.SPEED,
                    Severity.LOW,
                    0.8,
                    f"{call.method} in a loop prepares a run of its own in each turn: slow, and its memory grows.",
                    "Predict all rows in one call, or call model(x) for one.",
                )
            elif call.method == "compile" and any(
                one.method == "fit" and set(map(id, own)) <= set(map(id, one.loops)) for one in model.used
            ):
                yield facts.finding(
                    call,
                    Fault.OPTIMIZER,
                    Severity.MEDIUM,
                    0.75,
                    "The model is compiled anew in each turn of the loop: the optimizer begins with empty moments every time, and the step is traced again.",
                    "Compile once, above the loop.",
                )
        if (
            model.call.loops
            and not cleared
            and model.calls("fit")
            and id(model.call.node) not in done
            and any(isinstance(one, ast.For | ast.While) for one in model.call.loops)
        ):
            done.add(id(model.call.node))
            yield facts.finding(
                model.call,
                Fault.MEMORY,
                Severity.INFO,
                0.7,
                "A model is built in each turn of the loop; those of before stay in memory.",
                "Call keras.backend.clear_session() at the start of each turn.",
            )


def _trains(used: Sequence[Call], loops: Sequence[ast.AST]) -> bool:
    wanted = set(map(id, loops))
    return any(call.method == "fit" and wanted <= set(map(id, call.loops)) for call in used)


RULE = Rule(_run)
