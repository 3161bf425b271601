"""What the marks of lines hold: whatever process ran a line, and however it ended."""

import subprocess
import sys
from pathlib import Path

from tests import lines
from tests.sources import PROJECT

PROGRAM = """
import os, sys
from pathlib import Path
from tests import lines
lines.install(sys.argv[1])
from stethoscope import sizes
from stethoscope.jobs.worker import child
def runs(folder, *descriptors):
    sizes.parse_size("1")
    os._exit(0)
child._work, child.settle = None, runs
if os.fork() == 0:
    child.run(Path("job7"), 1, 1)
os.wait()
if os.fork() == 0:
    sizes.human_bytes(1)
    os._exit(0)
os.wait()
"""


def test_a_line_is_marked_by_a_fork_that_ends_at_once_and_by_a_job_in_a_map_of_its_own(tmp_path: Path):
    lines.prepare(PROJECT, tmp_path / "maps")
    subprocess.run([sys.executable, "-c", PROGRAM, tmp_path / "maps"], cwd=PROJECT, check=True)
    every = lines.lines_of(tmp_path / "maps")
    shared, job = (lines.ran(every, tmp_path / "maps" / name) for name in ("marks", "jobs/job7"))
    assert job
    assert shared
    bodies = {line.number for line in shared if line.module == "stethoscope/sizes.py"}
    assert {line.number for line in job if line.module == "stethoscope/sizes.py"}.isdisjoint(bodies)
    assert {line.module for line in job} == {"stethoscope/jobs/worker/child.py", "stethoscope/sizes.py"}
