"""A clone that has other weights.

Why: `clone_model` makes the layers anew, with new weights. A target network, a teacher or a copy kept for later needs `set_weights`.
Example: `target = keras.models.clone_model(model)` and no `set_weights`.
Fix: `target.set_weights(model.get_weights())`.
Source: keras.io/api/models/model_saving_apis/model_saving_and_loading (clone_model: "newly instantiated weights");
stackoverflow.com/questions/54366935.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.names import meaning
from stethoscope.pasted.scripts.rule import Rule

_SETS = ("set_weights", "get_weights", "load_weights", ".assign(", "clone_function")


def _run(facts: Facts) -> Iterator[Finding]:
    if any(word in facts.source.text for word in _SETS):
        return
    done: set[int] = set()
    for call in facts.calls:
        if meaning(call.name) != "keras.models.clone_model" or id(call.node) in done or call.spread:
            continue
        done.add(id(call.node))
        model = facts.model_of(call.result)
        if call.loops or (model is not None and model.calls("fit", "fit_generator")):
            continue  # trained from the start, as in a comparison
        yield facts.finding(
            call,
            Fault.INITIALISATION,
            Severity.MEDIUM,
            0.82,
            "The clone has new weights, and nothing gives it those of its model.",
            "Call set_weights with the weights of the model.",
        )


RULE = Rule(_run)
