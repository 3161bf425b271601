"""A target that is what the model is given.

Why: a decoder that is given the words it is to say learns to copy them, and says nothing when it has to go on alone; its target is one step
ahead. A network that is to take noise away learns to keep it where the noisy rows are the target too.
Example: `model.fit([encoder_in, decoder_in], decoder_in)`; `model.fit(x_noisy, x_noisy)`.
Fix: the sequence one step ahead; the rows without noise.
Source: blog.keras.io/a-ten-minute-introduction-to-sequence-to-sequence-learning-in-keras; blog.keras.io/building-autoencoders-in-keras
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.names import meaning
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Items, Unknown, Value, calls_behind

_NOISE = ("numpy.random.normal", "numpy.random.randn", "tensorflow.random.normal", "keras.layers.GaussianNoise")


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    for model in facts.models:
        for call in model.calls("fit"):
            x, y = call.argument("x", 0), call.argument("y", 1)
            if id(call.node) in done or y is None or (isinstance(y, Unknown) and not y.made_of):
                continue
            done.add(id(call.node))
            if isinstance(x, Items) and len(x.items) > 1 and any(one is y for one in x.items):
                said = "The target is one of the inputs: the model learns to copy it. What a decoder is to say is one step ahead of what it is given."
            elif x is y and _noisy(y):
                said = "The rows with noise are the target too: the model learns to keep the noise."
            else:
                continue
            yield facts.finding(
                call, Fault.LABELS, Severity.MEDIUM, 0.85, said, "Give fit the target that the model is to reach."
            )


def _noisy(value: Value) -> bool:
    """Whether noise was added by the script itself to rows that came from elsewhere."""
    calls = list(calls_behind(value))
    return any(meaning(call.name) in _NOISE for call in calls) and any(
        call.method == "load_data" or call.name.endswith((".load", ".read_csv")) for call in calls
    )


RULE = Rule(_run)
