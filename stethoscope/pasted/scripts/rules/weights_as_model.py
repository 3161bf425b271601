"""A file of weights is read as a model.

Why: `save_weights` and `ModelCheckpoint(save_weights_only=True)` write numbers alone, and `load_model` wants the layers too: ValueError.
Example: `model.save_weights("best.weights.h5")` and `keras.models.load_model("best.weights.h5")`.
Fix: build the model by the same code and call `load_weights`, or save the whole model.
Source: keras.io/guides/serialization_and_saving ("Weights-only saving"); stackoverflow.com/questions/55364954.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.names import meaning
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import is_const, text


def _run(facts: Facts) -> Iterator[Finding]:
    written = {text(call.argument("filepath", 0)) for call in facts.methods("save_weights")} | {
        text(call.argument("filepath", 0))
        for call in facts.named("keras.callbacks.ModelCheckpoint")
        if is_const(call.argument("save_weights_only"), True)
    }
    whole = {text(call.argument("filepath", 0)) for call in facts.methods("save")}
    done: set[int] = set()
    for call in facts.calls:
        if meaning(call.name) not in ("keras.models.load_model", "keras.saving.load_model") or id(call.node) in done:
            continue
        done.add(id(call.node))
        path = text(call.argument("filepath", 0))
        if path and (path.endswith(".weights.h5") or (path in written and path not in whole)) and not facts.legacy:
            yield facts.finding(
                call,
                Fault.ARCHITECTURE,
                Severity.HIGH,
                0.95,
                f"{path[:60]} holds weights alone, and load_model wants a whole model: ValueError.",
                "Build the model first, and call load_weights.",
            )


RULE = Rule(_run)
