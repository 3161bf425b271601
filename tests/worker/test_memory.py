"""The meter sees what a process adds, and what it has given back."""

from __future__ import annotations

import multiprocessing
import sys

import numpy as np
import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
MIB = 1 << 20


def _measure(sender):
    from stethoscope.worker.memory import Meter

    meter = Meter(512 * MIB)
    block = np.ones(200 * MIB // 8)
    held = meter.added_bytes()
    del block
    after, first_peak = meter.added_bytes(), meter.peak_bytes()
    meter.reset()
    small = np.ones(50 * MIB // 8)
    second_peak = meter.peak_bytes()
    meter.enforce()
    try:
        np.ones(600 * MIB // 8)
        refused = False
    except MemoryError:
        refused = True
    sender.send([held, after, first_peak, second_peak, meter.highest_bytes(), refused, small.size])


def test_peak_reset_and_limit():
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_measure, args=(sender,))
    process.start()
    assert receiver.poll(60)
    held, after, first_peak, second_peak, highest, refused, _ = receiver.recv()
    process.join(10)
    assert held == pytest.approx(200 * MIB, rel=0.1)
    assert after < 20 * MIB
    assert first_peak == pytest.approx(200 * MIB, rel=0.1)
    assert second_peak == pytest.approx(50 * MIB, rel=0.3)
    assert highest == pytest.approx(first_peak, rel=0.1)
    assert refused


def _measure_with_libraries(path, sender):
    import mmap
    import time

    from stethoscope.worker.memory import Meter

    meter = Meter(512 * MIB)
    meter.watch()
    block = np.ones(200 * MIB // 8)
    time.sleep(0.1)
    del block
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapped:
        touched = sum(mapped[place] for place in range(0, len(mapped), 4096))
        sender.send([meter.peak_bytes(), touched])


def test_files_mapped_after_the_peak_do_not_lower_it(tmp_path):
    path = tmp_path / "library"
    path.write_bytes(b"\1" * (120 * MIB))
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_measure_with_libraries, args=(path, sender))
    process.start()
    assert receiver.poll(60)
    peak, touched = receiver.recv()
    process.join(10)
    assert touched == 120 * MIB // 4096
    assert peak == pytest.approx(200 * MIB, rel=0.05)
