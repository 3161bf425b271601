"""Whole outputs of the first rows, one file per layer, for those who compare them elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from stethoscope.activations.model_rows import ModelRows
from stethoscope.activations.reach import fed_by, known_layers
from stethoscope.activations.watching import output_bytes
from stethoscope.task import TaskContext
from stethoscope.types import Architecture, Feed, Layer, Runner

_GROUP_BYTES = 256 << 20
_DISK_SHARE = 0.5
"""Of what the job may write."""


def keep_outputs(
    context: TaskContext, architecture: Architecture, runner: Runner, layers: Sequence[str], given: ModelRows, rows: int
) -> tuple[dict[str, str], list[str]]:
    """Writes the outputs of `layers` for the first `rows` rows, as the runtime gives them, as outputs-<n>.npy.

    Returns:
        The file's name by output key ("path", "path#2", "path:1"), and the layers left out for want of room.
    """
    places = list(range(min(rows, given.rows)))
    calls = [(len(found), feed) for found, feed in given.calls(places)]
    known = known_layers(architecture, runner)
    left = int(_DISK_SHARE * context.budget.disk_bytes)
    files: dict[str, str] = {}
    left_out: list[str] = []
    for group in _groups([known[path] for path in layers], len(places)):
        for key, values in _outputs(runner, [known[path] for path in group], calls, given.batching.fixed).items():
            if values.nbytes > left:
                left_out.append(key)
                continue
            left -= values.nbytes
            files[key] = context.save(f"outputs-{len(files)}", values)
        context.report("outputs", len(files) / max(1, len(layers)), f"outputs of {len(places):,} rows")
    return files, left_out


def _outputs(runner: Runner, layers: Sequence[Layer], calls: Sequence[tuple[int, Feed]], fixed: int | None) -> Feed:
    """The layers' outputs of all calls, one behind the other; of what has no entry for each row, the first call's."""
    parts: dict[str, list[Any]] = {}
    for rows, feed in calls:
        fed = {layer.path: fed_by(layer, feed) for layer in layers}
        asked = [path for path, name in fed.items() if not name]
        found: Feed = {path: feed[name] for path, name in fed.items() if name}
        found |= runner.activations(feed, asked) if asked else {}
        for key, array in found.items():
            by_row = fixed is not None and array.ndim > 0 and len(array) == fixed
            if by_row or key not in parts:
                parts.setdefault(key, []).append(array[:rows] if by_row else array)
    joinable = {key: len({array.shape[1:] for array in arrays}) == 1 for key, arrays in parts.items()}
    return {
        key: np.concatenate(arrays) if joinable[key] and len(arrays) > 1 else arrays[0] for key, arrays in parts.items()
    }


def _groups(layers: Sequence[Any], rows: int) -> list[list[str]]:
    groups: list[list[str]] = [[]]
    held = 0
    for layer in layers:
        need = output_bytes(layer, rows)
        if groups[-1] and held + need > _GROUP_BYTES:
            groups.append([])
            held = 0
        groups[-1].append(layer.path)
        held += need
    return groups
