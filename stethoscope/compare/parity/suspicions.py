"""What may be wrong with a layer, as changes of its settings, weights or activation that can be tried.

Only what a converter, an export, a runtime or a person has been seen to do, each file with where it was met; numbers are estimated.
"""

from __future__ import annotations

from collections.abc import Iterator

from stethoscope.compare.parity.activation_suspicions import activation_suspicions
from stethoscope.compare.parity.attention_suspicions import attention_suspicions
from stethoscope.compare.parity.kernel_suspicions import Estimate, Settings, Suspicion, Weights, window_suspicions
from stethoscope.compare.parity.moving_suspicions import moving_suspicions
from stethoscope.compare.parity.normalization_suspicions import normalization_suspicions
from stethoscope.compare.parity.recurrent_suspicions import recurrent_suspicions
from stethoscope.types import Layer


def suspicions(layer: Layer, weights: Weights, known: Settings | None = None) -> Iterator[Suspicion | Estimate]:
    """Everything that is tried for a layer; of two that explain the same, the first is named.

    Args:
        layer: of the group.
        weights: by short names.
        known: what a call was found to be told beside the layer's settings.
    """
    if "recurrent_kernel" in weights:
        yield from recurrent_suspicions(layer, weights)
        return
    yield from normalization_suspicions(layer, weights)
    yield from window_suspicions(layer, weights)
    yield from moving_suspicions(layer, weights)
    yield from attention_suspicions(layer, weights, known or {})
    yield from activation_suspicions(layer, weights)
