"""A layer's vectors of the data as points in two or three dimensions, with each row's nearest neighbours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stethoscope.activations.layer_vectors import METHODS, gather_vectors, nearest, project, umap_installed
from stethoscope.activations.looking import OneLayer
from stethoscope.activations.model_rows import ModelRows
from stethoscope.errors import BadSetting
from stethoscope.task import TaskContext

_ROWS, _BATCH_SIZE = 1_000, 32


@dataclass(frozen=True)
class Projection:
    """Rows of the data as points; files are .npy, in the job's outputs."""

    layer: str
    method: str
    dimensions: int
    points: str
    """rows × dimensions."""
    explained: tuple[float, ...]
    """Shares of the variance, by axis; none of UMAP."""
    places: tuple[int, ...]
    """Which row of the data each point is."""
    labels: tuple[str | float, ...] | None
    classes: tuple[str, ...]
    neighbours: str
    """rows × 8: the nearest other points, as places in `places`,"""
    distances: str
    """and how far they are (cosine)."""
    features: int
    """Numbers of a row's vector."""
    taken: str
    """"whole" outputs, or "means" of each unit."""
    left_out: int
    """Rows with NaN or infinite values."""
    rows: int
    rows_in_data: int
    source: str
    umap_installed: bool


class ProjectionTask:
    """params: {"layer", "rows" (default 1,000, at most 5,000), "method": "pca"|"umap", "dimensions": 2|3, "batch_size", "seed",
    "preparation", "data_options", "trusted"}; files: "model", "data"."""

    kind = "projection"
    answer = Projection

    def run(self, context: TaskContext) -> Projection:
        """Gathers the vectors and projects them."""
        params = context.params
        method = str(params.get("method") or "pca")
        if method not in METHODS:
            raise BadSetting(f"Projection {method[:40]!r}: expected one of {', '.join(METHODS)}.")
        dimensions = 3 if int(params.get("dimensions") or 3) == 3 else 2
        seed, rows = int(params.get("seed") or 0), max(2, int(params.get("rows") or _ROWS))
        architecture, opened = context.open_model()
        with opened as runner:
            layer = OneLayer(context, architecture, runner)
            with ModelRows(context, architecture, runner, dummy_rows=min(rows, 64), seed=seed) as given:
                found = gather_vectors(
                    given,
                    layer.output,
                    layer.layout(layer.rank),
                    rows,
                    layer.batch_size(int(params.get("batch_size") or _BATCH_SIZE)),
                    lambda done, text: context.report("activations", 0.9 * done, text),
                    layer.path,
                )
                labels = given.labels(found.places)
                source, total, classes = given.source, given.rows, given.classes
        context.report("projection", 0.95, method)
        made = project(found.vectors, method, dimensions, seed)
        rows_near, far = nearest(found.vectors)
        return Projection(
            layer=layer.path,
            method=method,
            dimensions=dimensions,
            points=context.save("points", made.points),
            explained=tuple(made.explained),
            places=tuple(int(place) for place in found.places),
            labels=None if labels is None else tuple(labels),
            classes=tuple(classes),
            neighbours=context.save("neighbours", rows_near.astype(np.int32)),
            distances=context.save("distances", far),
            features=int(found.vectors.shape[1]),
            taken=found.taken,
            left_out=found.left_out,
            rows=len(found.places),
            rows_in_data=total,
            source=source,
            umap_installed=umap_installed(),
        )


TASK = ProjectionTask()
