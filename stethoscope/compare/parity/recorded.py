"""What the model that is right answers: outputs, layers and edge cases, as another is compared with them."""

from __future__ import annotations

import math
import time
from pathlib import Path

from stethoscope.activations.model_rows import ModelRows
from stethoscope.compare.parity.edge_cases import edge_feed
from stethoscope.compare.parity.layer_tensors import LayerTensors
from stethoscope.compare.parity.opening import opened
from stethoscope.compare.parity.recording import Recording
from stethoscope.compare.parity.row_ranges import within_ranges
from stethoscope.compare.parity.side import Side, layers_or_reason
from stethoscope.compare.parity.ways import Way
from stethoscope.data.feeds.dummy import draws
from stethoscope.errors import StethoscopeError
from stethoscope.task import TaskContext
from stethoscope.types import Architecture, Feed

ROWS, LAYER_ROWS = 32, 8
_LAYER_BYTES = 320 << 20
"""Of one model's layers' answers, on disk: fewer rows where they would be more."""
_OPEN = 64


def recorded(context: TaskContext, way: Way, folder: Path) -> Recording:
    """Runs files["model"] on the job's rows, keeping the layers' answers below `folder`.

    params: {"rows" (32), "layers" (true), "edges" (true), "batch_size", "seed", "preparation", "data_options"}.

    Raises:
        StethoscopeError: as `open_model`, as `ModelRows`, or the model cannot be run on the rows.
    """
    params, name = context.params, context.files["model"].name
    rows, each = max(1, int(params.get("rows") or ROWS)), params.get("batch_size")
    context.memory.watch()
    with opened(context, "model", way) as side:
        with ModelRows(
            context, side.architecture, side.runner, dummy_rows=rows, seed=int(params.get("seed") or 0)
        ) as given:
            places, feed = given.at(range(min(rows, given.rows)))
            places, feed = places[:rows], given.batching.part(feed, 0, rows)
            labels = given.labels(places)
            described = given.described(places.tolist()) if given.source != "dummy" else []
            source = given.source
        said = list[str]()
        if source == "dummy":
            feed, said = within_ranges(context, side.architecture, feed, int(params.get("seed") or 0))
        context.report("run", 0.25, f"running {name}")
        outputs, time_s = timed(side, feed, each)
        few = side.batching.part(feed, 0, _layer_rows(side.architecture, len(places)))
        tensors, problem = LayerTensors(folder / "layers"), ""
        if params.get("layers", True):
            context.report("layers", 0.5, f"reading the layers of {name}")
            tensors, problem = layers_or_reason(side, few, folder / "layers")
        made = Recording(
            inputs=side.runner.inputs,
            feed=feed,
            outputs=outputs,
            places=places,
            layers=tensors,
            problem=problem,
            layer_rows=side.batching.rows(few),
            source=source,
            labels=labels,
            described=described,
            time_s=time_s,
            way=way,
            notes=said,
        )
        if params.get("edges", True):
            context.report("edges", 0.9, f"{name} on edge cases")
            _add_edges(made, side, each)
        made.peak_bytes = context.memory.peak_bytes()
        return made


def timed(side: Side, feed: Feed, batch_size: int | None) -> tuple[Feed, float]:
    """The outputs for all rows, and the seconds it took."""
    start = time.perf_counter()
    found = side.outputs(feed, batch_size)
    return found, time.perf_counter() - start


def _add_edges(made: Recording, side: Side, batch_size: int | None) -> None:
    edges = edge_feed(made.feed, made.inputs, draws(side.architecture, made.inputs), side.batching.names)
    if edges is None:
        return
    try:
        made.edge_outputs = side.outputs(edges, batch_size)
        made.edges = edges
    except StethoscopeError as error:
        made.notes.append(f"Edge cases are not compared: {error}")


def _layer_rows(architecture: Architecture, rows: int) -> int:
    each = sum(
        4 * math.prod(size or _OPEN for size in layer.output_shape[1:])
        for layer in architecture.layers
        if layer.output_shape
    )
    return max(1, min(rows, LAYER_ROWS, _LAYER_BYTES // max(1, each)))
