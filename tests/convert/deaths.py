"""A conversion whose process is ended from outside, in the middle of it."""

from __future__ import annotations

import signal
import time

import psutil

from stethoscope.jobs.job_engine import Engine


def end_the_converter(engine: Engine, number: signal.Signals, timeout_s: float = 60.0) -> None:
    """Waits until a conversion is at TensorFlow's converter, and sends its process a signal."""
    deadline = time.monotonic() + timeout_s
    while not any(one.kind == "convert" and one.progress.phase == "convert" for one in engine.jobs(active=True)):
        assert time.monotonic() < deadline, "no conversion came that far"
        time.sleep(0.02)
    children = psutil.Process(engine.server_pids()["tensorflow"]).children()
    max(children, key=lambda child: child.create_time()).send_signal(number)
