"""A conversion whose process is ended from outside, in the middle of it."""

from __future__ import annotations

import signal

import psutil

from stethoscope.jobs.job_engine import Engine
from tests.waiting import until


def end_the_converter(engine: Engine, number: signal.Signals) -> None:
    """Waits until a conversion is at TensorFlow's converter, and sends its process a signal."""
    until(lambda: any(job.kind == "convert" and job.progress.phase == "convert" for job in engine.jobs(active=True)))
    children = psutil.Process(engine.server_pids()["tensorflow"]).children()
    max(children, key=lambda child: child.create_time()).send_signal(number)
