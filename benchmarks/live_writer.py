"""Trainings that write event files while somebody reads them: `python -m benchmarks.live_writer FOLDER SECONDS`.

Records are written in halves now and then, files rotate, runs begin, end and are restarted. What was written is printed at
the end: {"run": {"tag": points}}; `value_of` says which value each point has.
"""

from __future__ import annotations

import json
import random
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from stethoscope.models.containers.wire import encode_bytes
from tests.logs.event_writing import event, first_record, simple

TAGS = ("loss", "accuracy", "rate", "layer_1/gradient_norm")
_ROUND_S = 0.05
_STEPS_A_ROUND = 10
_RUNS_AT_ONCE = 5


def value_of(tag: str, place: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """The values of a tag's points, by their places in the order written: no two alike, as single-precision numbers."""
    return (place + TAGS.index(tag) * 0.25).astype(np.float32).astype(np.float64)


@dataclass
class _Run:
    folder: Path
    written: int = 0
    step: int = 0
    rotated: int = 0
    stream: BinaryIO | None = None
    waiting: bytes = b""
    """The second half of a record that is not written yet."""
    life: int = field(default_factory=lambda: random.randint(1_000, 20_000))

    def rotate(self) -> None:
        if self.stream is not None:
            self.stream.write(self.waiting)
            self.stream.close()
        self.waiting = b""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.rotated += 1
        name = f"events.out.tfevents.{1_700_000_000 + self.rotated}.host"
        self.stream = (self.folder / name).open("ab", buffering=0)
        self.stream.write(first_record())

    def round(self) -> None:
        if self.stream is None or random.random() < 0.01:
            self.rotate()
        assert self.stream is not None
        if random.random() < 0.003:
            self.step = max(0, self.step - 100)
        content = self.waiting
        for _ in range(random.randint(0, 2 * _STEPS_A_ROUND)):
            for tag in TAGS:
                value = float(value_of(tag, np.array([self.written]))[0])
                content += event(self.step, simple(tag, value), wall_time=time.time())
            if random.random() < 0.02:
                content += event(self.step, encode_bytes(1, b"note") + encode_bytes(8, b"\x08\x07"))
            self.written += 1
            self.step += 1
        cut = random.randint(0, min(60, len(content)))
        content, self.waiting = content[: len(content) - cut], content[len(content) - cut :]
        # In pieces, as a file system may show them.
        for begin in range(0, len(content), 4096):
            self.stream.write(content[begin : begin + 4096])

    def close(self) -> None:
        if self.stream is not None:
            self.stream.write(self.waiting)
            self.stream.close()
            self.stream = None


def main() -> None:
    """Writes until the time is over."""
    place, until = Path(sys.argv[1]), time.monotonic() + float(sys.argv[2])
    random.seed(1)
    runs: list[_Run] = []
    active: list[_Run] = []
    while time.monotonic() < until:
        while len(active) < _RUNS_AT_ONCE:
            active.append(_Run(place / f"group{len(runs) % 3}" / f"run{len(runs):03}"))
            runs.append(active[-1])
        for run in list(active):
            run.round()
            if run.written > run.life:
                run.close()
                active.remove(run)
        time.sleep(_ROUND_S)
    for run in active:
        run.close()
    print(json.dumps({run.folder.relative_to(place).as_posix(): run.written for run in runs if run.written}))


if __name__ == "__main__":
    main()
