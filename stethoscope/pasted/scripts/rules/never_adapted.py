"""A layer of preprocessing that has learned nothing.

Why: TextVectorization, StringLookup, IntegerLookup and Normalization learn from the data in `adapt`. Without it, and without a vocabulary
or mean given, the first has no words and the last raises ValueError.
Example: `TextVectorization(max_tokens=20000)` used in `map`, and no `adapt`.
Fix: `layer.adapt(texts)` before it is used.
Source: keras.io/guides/preprocessing_layers ("The adapt() method"); raised by Keras 3.15.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.names import meaning
from stethoscope.pasted.scripts.rule import Rule

_LEARN = {
    "keras.layers.TextVectorization": ("vocabulary",),
    "keras.layers.StringLookup": ("vocabulary",),
    "keras.layers.IntegerLookup": ("vocabulary",),
    "keras.layers.Normalization": ("mean", "variance", "invert"),
}
_FILL = ("adapt(", "set_vocabulary(", "load_model(", "load_weights(", "set_weights(", "load_assets(", "from_config(")


def _run(facts: Facts) -> Iterator[Finding]:
    if any(word in facts.source.text for word in _FILL) or facts.legacy:
        return
    done: set[int] = set()
    for call in facts.calls:
        given = _LEARN.get(meaning(call.name))
        if given is None or call.spread or id(call.node) in done or not call.reached:
            continue
        done.add(id(call.node))
        # A vocabulary may stand at any place among the arguments.
        if len(call.args) > 1 or any(name in call.keywords for name in given):
            continue
        kind = call.name.rpartition(".")[2]
        yield facts.finding(
            call,
            Fault.PREPROCESSING,
            Severity.HIGH,
            0.88,
            f"{kind} is never adapted to data and gets no {given[0]}: it knows nothing of what it is given.",
            "Call adapt with the training data first.",
        )


RULE = Rule(_run)
