"""A layer's vectors of the data as points in two or three dimensions, with each row's nearest neighbours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from stethoscope.activations.layer_vectors import gather_vectors
from stethoscope.activations.model_rows import ModelRows
from stethoscope.activations.one_layer import OneLayer
from stethoscope.activations.principal_axes import METHODS, nearest, project, umap_installed
from stethoscope.errors import BadSetting
from stethoscope.task import TaskContext

_ROWS, _BATCH_SIZE = 1_000, 32


class ProjectionTask:
    """params: {"layer", "rows" (default 1,000, at most 5,000), "method": "pca"|"umap", "dimensions": 2|3, "batch_size", "seed",
    "preparation", "data_options", "trusted"}; files: "model", "data"."""

    kind = "projection"

    def run(self, context: TaskContext) -> Mapping[str, Any]:
        """Returns {"layer", "method", "points" (.npy, rows × dimensions), "explained", "places", "labels", "classes",
        "neighbours" (.npy, rows × 8: row numbers in this list), "distances" (.npy, cosine), "taken", "left_out", …}."""
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
        return {
            "layer": layer.path,
            "method": method,
            "dimensions": dimensions,
            "points": context.save("points", made.points),
            "explained": list(made.explained),
            "places": [int(place) for place in found.places],
            "labels": labels,
            "classes": list(classes),
            "neighbours": context.save("neighbours", rows_near.astype(np.int32)),
            "distances": context.save("distances", far),
            "features": int(found.vectors.shape[1]),
            "taken": found.taken,
            "left_out": found.left_out,
            "rows": len(found.places),
            "rows_in_data": total,
            "source": source,
            "umap_installed": umap_installed(),
        }


TASK = ProjectionTask()
