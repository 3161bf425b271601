"""From the tags that a recording has for each layer to what the layer did late in the training."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from stethoscope.logs.evidence.recorded import LayerMeasure
from stethoscope.logs.evidence.tags import layer_of
from stethoscope.logs.series import RunLog

MAX_MEASURES = 4_000


def measures_of(run: RunLog) -> tuple[LayerMeasure, ...]:
    """Every measurement of a layer that stays finite to the end, in the order logged; at most `MAX_MEASURES`."""
    return tuple(measure for measure, _ in zip(_measures(run), range(MAX_MEASURES), strict=False))


def _measures(run: RunLog) -> Iterator[LayerMeasure]:
    for tag, series in run.series.items():
        kind, layer = layer_of(tag) or ("", "")
        known = series.latest()
        late = known.value[len(known.value) * 2 // 3 :]
        if layer and len(late) and bool(np.isfinite(late).all()):
            since, until = float(known.step[len(known.value) * 2 // 3]), float(known.step[-1])
            yield LayerMeasure(kind, layer, tag, len(known.value), since, until, float(late.min()), float(late.max()))
