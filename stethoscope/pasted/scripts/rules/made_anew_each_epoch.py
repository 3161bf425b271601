"""A model is made anew in each epoch, or kept over the folds.

Why: a model that is built or cloned within a loop over epochs begins with new weights each time: only the last epoch counts. One that is
built above a loop over folds has been trained on the rows that it is scored on.
Example: `for epoch in range(20): model = build(); model.fit(x, y, epochs=1)`; `for train, test in KFold(5).split(x): model.fit(x[train], y[train])`.
Fix: build it above the loop over epochs, within the loop over folds.
Source: stackoverflow.com/questions/48403519; scikit-learn.org/stable/modules/cross_validation.html; keras.io/api/models/model_saving_apis/model_saving_and_loading
(clone_model: "newly instantiated weights").
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Call

_KEEPS_WEIGHTS = ("set_weights", "load_weights", "reset_weights", "from_config")


def _run(facts: Facts) -> Iterator[Finding]:
    restored = any(word in facts.source.text for word in _KEEPS_WEIGHTS)
    done: set[int] = set()
    for model in facts.models:
        for fit in model.calls("fit", "train_on_batch"):
            epochs = [one for one in fit.loops if _over(one, "epoch") and one in model.call.loops]
            if epochs and not restored and model.kind != "loaded":
                at = _caller(facts, model.call)
                if id(at.node) not in done:
                    done.add(id(at.node))
                    yield facts.finding(
                        at,
                        Fault.EPOCHS,
                        Severity.HIGH,
                        0.88,
                        "The model is built anew in each turn of the loop over epochs: what the turns before have taught it is lost.",
                        "Build it once, above the loop.",
                    )
            folds = [one for one in fit.loops if _folds(one) and one not in model.call.loops]
            scored = any(call.method in ("evaluate", "predict") and set(folds) & set(call.loops) for call in model.used)
            if folds and scored and not restored and id(fit.node) not in done and fit.method == "fit":
                done.add(id(fit.node))
                yield facts.finding(
                    fit,
                    Fault.VALIDATION,
                    Severity.HIGH,
                    0.88,
                    "The model is kept from fold to fold: it has been trained on the rows that the next fold scores it on.",
                    "Build it anew within the loop.",
                )


def _over(loop: ast.AST, word: str) -> bool:
    return isinstance(loop, ast.For) and word in ast.unparse(loop.target).lower()


def _folds(loop: ast.AST) -> bool:
    return (
        isinstance(loop, ast.For)
        and ".split(" in ast.unparse(loop.iter)
        and isinstance(loop.target, ast.Tuple)
        and not isinstance(loop.iter, ast.Constant)
    )


def _caller(facts: Facts, made: Call) -> Call:
    """The outermost call that gives this model."""
    found = [one for one in facts.calls if one.result is not None and facts.model_of(one.result) is not None]
    own = [one for one in found if getattr(one.result, "call", None) is made and one.method != "compile"]
    return max(own, key=lambda one: -len(one.within), default=made)


RULE = Rule(_run)
