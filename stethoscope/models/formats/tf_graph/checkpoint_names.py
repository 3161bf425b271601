"""What the names in a TensorFlow checkpoint say: weights, what an optimizer keeps of them, counters."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from stethoscope.models.model_format import StoredWeight
from stethoscope.models.weights_only import Part, Variable

_TRAINED = re.compile(r"(^|/)_trainable_variables/\d+$")
"""Keras 3 stores what an optimizer trains under the optimizer, where it comes first."""
_SLOT = re.compile(r"/\.OPTIMIZER_SLOT/|(^|/)_?optimizer(/|$)|(^|/)beta[12]_power(_\d+)?$")
_COUNTER = re.compile(r"(^|/)(save_counter|global_step|step)$")
_OTHER = re.compile(
    r"(^|/)(keras_api/)?(metrics|_metrics|loss_tracker|_loss_tracker|_?seed_generators?)(/|$)|seed_generator_state$"
)


def natural(name: str) -> list[tuple[int, str]]:
    """For sorting: ckpt-9 before ckpt-10."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", name)]


def last_part(path: str) -> str:
    """A name within its layer."""
    return path.rsplit("/", 1)[-1]


def variables(weights: Mapping[str, tuple[str, StoredWeight]]) -> list[Variable]:
    """Sorts what a checkpoint stores into weights, what an optimizer keeps of them, and counters.

    Args:
        weights: (what the program called it, "" where that is not known; the values) by key.
    """
    shapes = {key: weight.shape for key, (_, weight) in weights.items()}
    common = Counter(called or key for key, (called, _) in weights.items())
    found = []
    for key, (called, weight) in sorted(weights.items(), key=lambda item: natural(item[0])):
        path = called if called and common[called] == 1 else key
        part = _part(key, called, shapes)
        found.append(
            Variable(
                path, replace(weight, name=last_part(path)), path.rpartition("/")[0], part, key if path != key else ""
            )
        )
    return sorted(found, key=lambda one: not one.part.is_weight)


def _part(key: str, called: str, shapes: Mapping[str, tuple[int, ...]]) -> Part:
    if _TRAINED.search(key):
        return Part.WEIGHT
    if _SLOT.search(key) or shapes.get(key.rpartition("/")[0]) == shapes[key]:
        return Part.OPTIMIZER  # TensorFlow 1 has what it keeps of `w` under `w/Adam`
    counts = not shapes[key] and _COUNTER.search(key)
    return Part.OTHER if counts or _OTHER.search(key) or _OTHER.search(called) else Part.WEIGHT
