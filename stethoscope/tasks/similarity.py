"""Which units (channels) of a layer behave alike over the data: a matrix, ordered so that groups show."""

from __future__ import annotations

from dataclasses import dataclass

from stethoscope.activations.looking import OneLayer
from stethoscope.activations.model_rows import ModelRows
from stethoscope.activations.unit_similarity import MEASURES, UnitSimilarity, ordered
from stethoscope.errors import BadSetting
from stethoscope.task import TaskContext

_ROWS, _BATCH_SIZE = 500, 32


@dataclass(frozen=True)
class Similarity:
    """Which units of a layer behave alike."""

    layer: str
    measure: str
    matrix: str
    """.npy in the job's outputs: units × units, in the layer's order."""
    units: tuple[int, ...]
    """Which units those are."""
    order: tuple[int, ...]
    """Places in `units`, similar ones beside each other."""
    all_units: int
    values: int
    """Numbers each unit was compared by."""
    rows: int
    rows_in_data: int
    source: str


class SimilarityTask:
    """params: {"layer", "measure": "correlation"|"cosine", "rows" (default 500), "batch_size", "seed", "preparation",
    "data_options", "trusted"}; files: "model", optionally "data"."""

    kind = "similarity"
    answer = Similarity

    def run(self, context: TaskContext) -> Similarity:
        """Compares the units over the rows."""
        params = context.params
        measure = str(params.get("measure") or "correlation")
        if measure not in MEASURES:
            raise BadSetting(f"Similarity {measure[:40]!r}: expected one of {', '.join(MEASURES)}.")
        seed, rows = int(params.get("seed") or 0), max(1, int(params.get("rows") or _ROWS))
        architecture, opened = context.open_model()
        with opened as runner:
            layer = OneLayer(context, architecture, runner)
            similarity: UnitSimilarity | None = None
            seen = 0
            with ModelRows(context, architecture, runner, dummy_rows=min(rows, 64), seed=seed) as given:
                wanted = min(rows, given.rows)
                size = layer.batch_size(int(params.get("batch_size") or _BATCH_SIZE))
                for places, feed in given.batches(wanted, size):
                    array = layer.output(feed)
                    if array.dtype.kind not in "fiub" or array.ndim < 2:
                        raise BadSetting(f"Layer {layer.path!r}: expected units to compare, got shape {array.shape}.")
                    similarity = similarity or UnitSimilarity(layer.layout(array.ndim))
                    similarity.add(array)
                    seen += len(places)
                    context.report("activations", min(1.0, seen / max(1, wanted)), f"{seen:,} of {wanted:,} rows")
                source, total = given.source, given.rows
        if similarity is None or similarity.all_units < 2:
            raise BadSetting(f"Layer {layer.path!r}: expected at least two units to compare. Choose another layer.")
        matrix = similarity.matrix(measure)
        return Similarity(
            layer=layer.path,
            measure=measure,
            matrix=context.save("similarity", matrix),
            units=tuple(int(unit) for unit in similarity.units),
            order=tuple(ordered(matrix)),
            all_units=similarity.all_units,
            values=similarity.count,
            rows=seen,
            rows_in_data=total,
            source=source,
        )


TASK = SimilarityTask()
