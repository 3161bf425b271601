"""A validation split of rows that stand in the order of their classes.

Why: `validation_split` takes the last rows, before anything is shuffled. Where one class stands behind the other, the validation holds one
class only, which the training has hardly seen.
Example: `y = np.concatenate([np.zeros(500), np.ones(500)])` and `model.fit(x, y, validation_split=0.2)`.
Fix: shuffle rows and labels together first, or split with `train_test_split(…, stratify=y)`.
Source: keras.io/api/models/model_training_apis (validation_split: "the last samples … before shuffling");
stackoverflow.com/questions/55112814.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.checks.findings import Fault, Finding, Severity
from stethoscope.pasted.scripts.facts import Facts
from stethoscope.pasted.scripts.rule import Rule
from stethoscope.pasted.scripts.values import Call, Items, Made, ancestors, calls_behind, number

_JOINS = frozenset({"numpy.concatenate", "numpy.hstack", "numpy.append", "numpy.vstack", "numpy.r_"})
_FILLS = frozenset({"numpy.zeros", "numpy.ones", "numpy.full", "numpy.zeros_like", "numpy.ones_like"})
_SORTED = (".load_iris", ".load_wine")
"""Of scikit-learn's: their rows stand class by class."""
_MIXES = ("shuffle", "permutation", "train_test_split", "sample", "resample")


def _run(facts: Facts) -> Iterator[Finding]:
    done: set[int] = set()
    mixed = any(call.method in _MIXES or call.name.rpartition(".")[2] in _MIXES for call in facts.calls)
    for model in facts.models:
        for call in model.calls("fit"):
            split = number(call.argument("validation_split", 6))
            y = call.argument("y", 1)
            if id(call.node) in done or not split or y is None or mixed:
                continue
            done.add(id(call.node))
            if any(_by_class(one) or one.name.endswith(_SORTED) for one in calls_behind(y)):
                yield facts.finding(
                    call,
                    Fault.VALIDATION,
                    Severity.HIGH,
                    0.88,
                    "The rows stand in the order of their classes, and validation_split takes the last of them: the validation "
                    "holds one class, which the training has hardly seen.",
                    "Shuffle rows and labels together first.",
                    (),
                    "order = np.random.permutation(len(x))\nx, y = x[order], y[order]",
                )


def _by_class(call: Call) -> bool:
    if call.name not in _JOINS or not call.args:
        return False
    parts = call.args[0].items if isinstance(call.args[0], Items) else list(call.args)
    fills = [one.call for part in parts for one in ancestors(part) if isinstance(one, Made) and one.call.name in _FILLS]
    return len(fills) > 1 and len(parts) > 1


RULE = Rule(_run, same_as=frozenset({"sorted-split"}))
