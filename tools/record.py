"""`make record`: has workers answer again what the code has left behind, and drops answers that no test asks for any more.

The suite runs twice: once to record what is missing, once to see that it is green on what was recorded, and what of it is used.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests import recorded, specimen_programs
from tests.suite import command

ROOT = Path(__file__).resolve().parents[1]


def main() -> int:
    """Returns the ending of the suite that was red; 0 when both were green."""
    with tempfile.TemporaryDirectory(prefix="stethoscope-record-") as folder:
        new, given = Path(folder) / "new", Path(folder) / "given"
        new.mkdir()
        given.mkdir()
        print("Recording …", flush=True)
        ended = suite(STETHOSCOPE_TEST_RECORD=str(new))
        counts = recorded.merge(sorted(new.glob("*.jsonl")))
        programs = specimen_programs.merge(sorted(new.glob("*.specimens")))
        print(f"{sum(counts.values())} answers of {len(counts)} kinds of jobs, {programs} programs.", flush=True)
        if ended:
            return ended
        recorded.forget()
        print("Looking which of them are used …", flush=True)
        ended = suite(STETHOSCOPE_TEST_GIVEN=str(given))
        if not ended:
            counts = recorded.merge([], only=recorded.given_in(given) | specimen_programs.keys())
            print(f"{sum(counts.values())} of them are used and kept: {counts}")
        return ended


def suite(**more: str) -> int:
    """Runs every test."""
    words = command("-rfE", *sys.argv[1:])
    return subprocess.run(words, cwd=ROOT, env=os.environ | more, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
