"""Seeds for some generators only.

Why: Python, NumPy and TensorFlow draw from generators of their own. With a seed for one of them weights and order still differ from run to run.
Example: `np.random.seed(0)` and no seed for Keras.
Fix: `keras.utils.set_random_seed(0)`, which sets all three.
Source: keras.io/examples/keras_recipes/reproducibility_recipes.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.names import meaning
from stethoscope.pasted.scripts.rule import Rule

_OWN = frozenset({"numpy.random.seed", "random.seed"})
_ALL = frozenset(
    {
        "tensorflow.random.set_seed",
        "keras.utils.set_random_seed",
        "tensorflow.set_random_seed",
        "tensorflow.compat.v1.set_random_seed",
        "tensorflow.random.set_random_seed",
    }
)


def _run(facts: Facts) -> Iterator[Finding]:
    seeds = [call for call in facts.calls if call.name in _OWN and call.reached]
    trains = any(model.calls("fit") for model in facts.models)
    if seeds and trains and not any(meaning(call.name) in _ALL for call in facts.calls):
        yield facts.finding(
            seeds[0],
            Fault.DETERMINISM,
            Severity.INFO,
            0.9,
            "Keras draws its weights and its order from a generator of its own: this seed does not make the training repeatable.",
            "Call keras.utils.set_random_seed, which sets all three.",
        )


RULE = Rule(_run)
