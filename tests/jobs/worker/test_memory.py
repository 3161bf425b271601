"""The meter sees what a process adds, and what it has given back."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
MIB = 1 << 20

_GIVEN_BACK = """
held_block = np.ones(200 * MIB // 8)
found = {"held": meter.added_bytes()}
del held_block
found |= {"after": meter.added_bytes(), "first": meter.peak_bytes()}
meter.reset()
small = np.ones(50 * MIB // 8)
found["second"] = meter.peak_bytes()
meter.enforce()
try:
    np.ones(600 * MIB // 8)
    found["refused"] = False
except MemoryError:
    found["refused"] = True
found["highest"] = meter.highest_bytes()
"""
_LIBRARIES = """
meter.watch()
block = np.ones(200 * MIB // 8)
time.sleep(0.1)
del block
with open(sys.argv[1], "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapped:
    touched = sum(mapped[place] for place in range(0, len(mapped), 4096))
    found = {"peak": meter.peak_bytes(), "touched": touched}
"""
_SCRATCH = """
meter.watch()
for mapped in (300, 300, 0):  # two calls that map far more than they touch, as kernels do for scratch space
    meter.reset()
    block = np.ones(60 * MIB // 8)
    scratch = mmap.mmap(-1, mapped * MIB, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) if mapped else None
    time.sleep(0.05)
    del block, scratch
meter.enforce()
block = np.empty(1200 * MIB // 8)
found = {"peak": meter.highest_bytes()}
del block
try:
    np.empty(8000 * MIB // 8)
    found["refused"] = False
except MemoryError:
    found["refused"] = True
"""
_NO_SCRATCH = """
meter.watch()
block = np.ones(200 * MIB // 8)
kept = mmap.mmap(-1, 300 * MIB, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)  # as stacks of threads that stay
time.sleep(0.05)
del block
meter.enforce()
try:
    np.empty(600 * MIB // 8)
    found = {"refused": False}
except MemoryError:
    found = {"refused": True}
"""


def measured(program: str, *arguments: Path) -> dict[str, int]:
    """What a program prints that measures a process of its own."""
    head = "import json, mmap, sys, time\nimport numpy as np\nfrom stethoscope.jobs.worker.memory import Meter\n"
    code = f"{head}MIB = 1 << 20\nmeter = Meter(512 * MIB)\n{program}print(json.dumps(found))"
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    found: dict[str, int] = json.loads(done.stdout)
    return found


def test_peak_reset_and_limit():
    found = measured(_GIVEN_BACK)
    assert found["held"] == pytest.approx(200 * MIB, rel=0.1)
    assert found["after"] < 20 * MIB
    assert found["first"] == pytest.approx(200 * MIB, rel=0.1)
    assert found["second"] == pytest.approx(50 * MIB, rel=0.3)
    assert found["highest"] == pytest.approx(found["first"], rel=0.1)
    assert found["refused"]


def test_files_mapped_after_the_peak_do_not_lower_it(tmp_path):
    path = tmp_path / "library"
    path.write_bytes(b"\1" * (120 * MIB))
    found = measured(_LIBRARIES, path)
    assert found["touched"] == 120 * MIB // 4096
    assert found["peak"] == pytest.approx(200 * MIB, rel=0.05)


def test_scratch_that_calls_mapped_and_did_not_touch_is_allowed_to_those_that_follow():
    found = measured(_SCRATCH)
    assert found["peak"] < 100 * MIB
    assert found["refused"]


def test_what_stays_mapped_loosens_no_limit():
    assert measured(_NO_SCRATCH)["refused"]
