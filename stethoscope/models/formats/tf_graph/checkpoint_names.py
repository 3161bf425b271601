"""What the names in a TensorFlow checkpoint say: weights, what an optimizer keeps of them, counters."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from stethoscope.models.model_format import StoredWeight
from stethoscope.models.weights_only import Part, Variable

_SLOT = re.compile(r"/\.OPTIMIZER_SLOT/|(^|/)_?optimizer(/|$)|(^|/)beta[12]_power(_\d+)?$")
_OTHER = re.compile(
    r"(^|/)(save_counter|global_step|step|(keras_api/)?(metrics|_metrics|loss_tracker|_loss_tracker)|_?seed_generators?)(/|$)"
    r"|seed_generator_state$|(^|/)_CHECKPOINTABLE_OBJECT_GRAPH$"
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
        weights: (what the program called it, "" for the same; the values) by key.
    """
    shapes = {key: weight.shape for key, (_, weight) in weights.items()}
    common = Counter(own for own, _ in weights.values() if own)
    return [
        Variable(key, weight, key.rpartition("/")[0], _part(key, shapes), own if common[own] == 1 else "")
        for key, (own, weight) in sorted(weights.items(), key=lambda item: natural(item[0]))
    ]


def _part(key: str, shapes: Mapping[str, tuple[int, ...]]) -> Part:
    base = key.rpartition("/")[0]
    if _SLOT.search(key) or shapes.get(base) == shapes[key]:
        return Part.OPTIMIZER  # TensorFlow 1 has what it keeps of `w` under `w/Adam`
    return Part.OTHER if _OTHER.search(key) else Part.WEIGHT
