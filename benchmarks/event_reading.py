"""`python -m benchmarks.event_reading READER FOLDER`: reads event files and prints how long it took, memory and a digest."""

from __future__ import annotations

import gc
import hashlib
import json
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.rustboard_reading import Rustboard
from benchmarks.rustboard_reading import tags as rustboard_tags

Tag = tuple[str, str, Any, Any, Any]
"""(run, tag, steps, wall times, values)"""


def _ours(folder: Path) -> tuple[Callable[[], Any], Callable[[Any], Iterable[Tag]]]:
    from stethoscope.logs.tensorboard import EventFolder

    def tags(runs: Any) -> Iterable[Tag]:
        for run in runs:
            for tag, one in run.series.items():
                yield run.run, tag, one.step, one.wall_time, one.value

    return lambda: EventFolder(folder).poll(), tags


def _tensorboard(folder: Path) -> tuple[Callable[[], Any], Callable[[Any], Iterable[Tag]]]:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.compat import tf
    from tensorboard.util.tensor_util import make_ndarray

    tf.io.gfile.exists(str(folder))  # TensorFlow is imported here, not while the time is taken.
    guidance = {"scalars": 0, "tensors": 0}

    def read() -> list[tuple[str, Any]]:
        found = []
        for run in sorted({path.parent for path in folder.rglob("*tfevents*")}):
            accumulator = EventAccumulator(str(run), size_guidance=guidance)
            accumulator.Reload()
            found.append((run.relative_to(folder).as_posix(), accumulator))
        return found

    def tags(runs: Any) -> Iterable[Tag]:
        for run, one in runs:
            for tag in one.Tags()["scalars"]:
                events = one.Scalars(tag)
                yield run, tag, *([getattr(e, name) for e in events] for name in ("step", "wall_time", "value"))
            for tag in one.Tags()["tensors"]:
                if one.SummaryMetadata(tag).plugin_data.plugin_name == "scalars":
                    events = one.Tensors(tag)
                    values = [make_ndarray(e.tensor_proto).item() for e in events]
                    yield run, tag, [e.step for e in events], [e.wall_time for e in events], values

    return read, tags


def _resident_bytes(field: str) -> int:
    line = next(one for one in Path("/proc/self/status").read_text().splitlines() if one.startswith(field))
    return int(line.split()[1]) << 10


def main() -> None:
    """Prints {"wall_s", "cpu_s", "added_bytes", "points", "digest"}; of rustboard, its server's time and memory too."""
    reader, place = sys.argv[1], Path(sys.argv[2])
    if reader == "tensorboard-alone":
        sys.modules["tensorboard.compat.notf"] = type(sys)("tensorboard.compat.notf")
    server = Rustboard(place) if reader == "rustboard" else None
    read, tags = (server.read, rustboard_tags) if server else (_ours if reader == "ours" else _tensorboard)(place)
    gc.collect()
    before = _resident_bytes("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")
    wall, cpu = time.perf_counter(), time.process_time()
    runs = read()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    added = _resident_bytes("VmHWM") - before
    if server:
        cpu, added = cpu + server.cpu_s, added + server.peak_bytes
    digest, points = hashlib.sha256(), 0
    gc.disable()
    for run, tag, steps, times, values in sorted(tags(runs), key=lambda one: one[:2]):
        digest.update(f"{run}\0{tag}\0".encode())
        digest.update(np.asarray(steps, np.int64).tobytes() + np.asarray(times, np.float64).tobytes())
        digest.update(np.asarray(values, np.float64).tobytes())
        points += len(steps)
    print(
        json.dumps({"wall_s": wall, "cpu_s": cpu, "added_bytes": added, "points": points, "digest": digest.hexdigest()})
    )


if __name__ == "__main__":
    main()
