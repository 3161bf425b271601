"""`make fuzz`: the property tests with examples drawn at random, more of them each round, until the time is over.

What breaks a test is printed as hypothesis prints it: the example to pin with `@example` on that test.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

from tests.suite import command

ROOT = Path(__file__).resolve().parents[1]
FACTORS = (1, 5, 20, 100)


def main() -> int:
    """Returns 1 when an example was found that breaks a test."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    arguments, words = parser.parse_known_args()
    start, found = time.monotonic(), False
    for number in range(1_000):
        left_s = 60 * arguments.minutes - (time.monotonic() - start)
        if left_s <= 0:
            break
        factor = FACTORS[min(number, len(FACTORS) - 1)]
        print(f"round {number + 1}: {factor} × the examples, {left_s / 60:.1f} minutes left", flush=True)
        more = {"STETHOSCOPE_TEST_EXAMPLES": str(factor), "STETHOSCOPE_TEST_FOR": str(left_s)}
        done = subprocess.run(command("-m", "hypothesis", "-rf", *words), cwd=ROOT, env=os.environ | more, check=False)
        found = found or done.returncode == 1
        if done.returncode > 1:
            return done.returncode
    print("Pin what was found with @example on its test." if found else "Nothing was found.")
    return int(found)


if __name__ == "__main__":
    sys.exit(main())
