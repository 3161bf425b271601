"""`make quick`: what can be known of a change in a minute and a half. Lint, formatting, types, contracts, the nearest tests.

The nearest tests are those that changed, those that mirror a changed module by name, those that import one, and then those
that import what imports one. What the time does not reach is counted as skipped and left to `make test`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from tests.sources import PROJECT, nearest_tests

TESTS_S = 60.0
CONTRACTS = (
    "test_structure",
    "test_imports",
    "test_tasks_and_commands",
    "test_components",
    "test_checks",
    "test_fixes",
)


def main() -> int:
    """Returns the ending of the first step that was red; 0 when all were green."""
    changed = changed_files()
    print(f"{len(changed)} changed files", flush=True)
    until = str(time.time() + TESTS_S)
    near = [str(test.relative_to(PROJECT)) for test in nearest_tests(changed)]
    browser = [test for test in near if test.startswith("tests/browser/")]
    contracts = [f"tests/contracts/{name}.py" for name in CONTRACTS]
    tests = [*(test for test in near if test not in browser), *contracts, *browser]
    bin_folder = Path(sys.executable).parent
    checks = [
        ["ruff", "check", "--quiet", "."],
        ["ruff", "format", "--check", "--quiet", "."],
        ["mypy"],
        ["lint-imports", "--no-logo"],
    ]
    # Types beside tests: either leaves a processor idle at times.
    started = [subprocess.Popen([bin_folder / words[0], *words[1:]], cwd=PROJECT) for words in checks]
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--numprocesses",
        "auto",
        "--maxschedchunk",
        "1",
        "-rf",
        "--maxfail",
        "5",
    ]
    tested = subprocess.run(
        [*command, *dict.fromkeys(tests)], cwd=PROJECT, env=os.environ | {"STETHOSCOPE_TEST_UNTIL": until}, check=False
    )
    ends = [*(process.wait() for process in started), tested.returncode]
    return next((code for code in ends if code), 0)


def changed_files() -> list[Path]:
    """Files that differ from the last commit, or where none does, those of that commit."""
    asked = [["diff", "--name-only", "HEAD"], ["ls-files", "--others", "--exclude-standard"]]
    names = [name for words in asked for name in _git(*words)] or _git("diff", "--name-only", "HEAD~1", "HEAD")
    return [path for name in names if (path := PROJECT / name).suffix == ".py" and path.exists()]


def _git(*words: str) -> list[str]:
    done = subprocess.run(["git", *words], cwd=PROJECT, capture_output=True, text=True, check=False)
    return done.stdout.splitlines()


if __name__ == "__main__":
    sys.exit(main())
