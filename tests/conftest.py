"""Fixtures shared by every test."""

from __future__ import annotations

import gc
import json
import math
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
import pytest
from hypothesis.internal.conjecture import providers

from stethoscope.jobs.job_engine import Engine
from tests import definitions, recorded, specimen_programs
from tests.commands import Commands
from tests.recorded import RecordedEngine, recording_folder

PROJECT = Path(__file__).resolve().parents[1]
ALL = os.environ.get("STETHOSCOPE_TEST_ALL") == "1"
"""Whether this is `make test-all`: every sweep, every job run by a worker, examples drawn at random."""
LIVE = ALL or os.environ.get("STETHOSCOPE_TEST_LIVE") == "1"
"""Whether no recorded answer is given."""
EXPLORES = ALL or "STETHOSCOPE_TEST_EXAMPLES" in os.environ
BEGINNINGS: dict[str, list[tuple[np.random.Generator, Any]]] = {}
SEED = 17
GIVES_WAY = 5
"""How much nicer the tests are than what a journey in the browser starts, where that may be said."""
UNTIL_S = float(os.environ.get("STETHOSCOPE_TEST_UNTIL", "0"))
"""The moment after which no test begins; 0 where there is none."""
FOR_S = float(os.environ.get("STETHOSCOPE_TEST_FOR", "0"))
"""The same, in seconds after the tests were found."""
END = pytest.StashKey[float]()
"""The moment of this run after which no test begins."""

# What memory a call takes depends on the kernels: with oneDNN, on every processor. Without: `tests/memory/test_runtime_needs.py`.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")
# Nothing is thrown away while tests are found: to look for garbage would only take time.
gc.disable()
hypothesis.settings.register_profile("same", derandomize=True, database=None, deadline=None, print_blob=True)
hypothesis.settings.register_profile("explore", deadline=None, print_blob=True)
hypothesis.settings.load_profile("explore" if EXPLORES else "same")
if not EXPLORES:
    # Hypothesis draws from the constants in our modules that are loaded: other ones in each worker of a run.
    providers._get_local_constants = lambda: providers._local_constants


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves sweeps to `make test-all`. Journeys in the browser come first: they take longest, one after the other."""
    if not ALL:
        sweeps = [item for item in items if item.get_closest_marker("sweep")]
        config.hook.pytest_deselected(items=sweeps)
        items[:] = [item for item in items if not item.get_closest_marker("sweep")]
    items.sort(key=lambda item: item.path.parent.name != "browser")


def pytest_xdist_auto_num_workers() -> int:
    """One more than there are cores: while a browser or a worker is waited for, another test goes on."""
    return min(4, (os.cpu_count() or 1) + 1)


def pytest_sessionstart() -> None:
    """What runs beside the journeys gives way to them: everybody who looks at a page waits for it."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        os.nice(GIVES_WAY)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Notes how the random generators of modules begin, and when the run is to end."""
    gc.freeze()
    gc.enable()
    session.config.stash[END] = time.time() + FOR_S if FOR_S else UNTIL_S or math.inf
    for module in {item.module for item in session.items if isinstance(item, pytest.Function)}:
        drawn_from = [value for value in vars(module).values() if isinstance(value, np.random.Generator)]
        if drawn_from:
            BEGINNINGS[module.__name__] = [(one, one.bit_generator.state) for one in drawn_from]


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Every test draws the same numbers, whatever ran before; after the end of a run that has one, none is run."""
    if time.time() > item.config.stash[END]:
        pytest.skip("no time was left for it in this run")
    random.seed(SEED)  # Keras 3 draws the seeds of its layers from it
    np.random.seed(SEED)
    if tensorflow := sys.modules.get("tensorflow"):
        tensorflow.random.set_seed(SEED)
    if isinstance(item, pytest.Function):
        for generator, state in BEGINNINGS.get(item.module.__name__, ()):
            generator.bit_generator.state = state


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Keeps what was read of the code, for the next run; where tests are only found, all that recorded answers rest on."""
    if session.config.option.collectonly and recording_folder() is None:
        recorded.left_behind()
    definitions.keep()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """After a run on several workers: what was run although it is recorded, because the code has left the recording behind."""
    if config.getoption("numprocesses", None) and not ALL:
        for what, (gone, total) in {
            "answers": recorded.left_behind(),
            "programs": specimen_programs.left_behind(),
        }.items():
            if gone:
                terminalreporter.write_line(f"{gone} of {total} recorded {what} are of other code: run `make record`.")


@pytest.fixture(scope="module", autouse=True)
def _nothing_old_is_searched_for_garbage() -> None:
    """Streamlit after each run of a page, and Keras between models, search every object alive: with TensorFlow, 0.25 s."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """A folder of real and hostile files that is not part of the project; tests that want it are skipped without it."""
    folder = Path(os.environ.get("STETHOSCOPE_SHARED", PROJECT.parent / "shared"))
    if not (folder / "real" / "manifest.json").exists():
        pytest.skip("no shared folder of real models (set STETHOSCOPE_SHARED)")
    return folder


@pytest.fixture(scope="session")
def commit() -> int:
    """A number that is another one for each committed state: what rotates, rotates by it."""
    asked = subprocess.run(
        ["git", "rev-parse", "HEAD^{tree}"], cwd=PROJECT, capture_output=True, text=True, check=False
    )
    return int(asked.stdout.strip() or "0", 16)


@pytest.fixture(scope="session")
def engine(tmp_path_factory, commit) -> Iterator[RecordedEngine]:
    """One engine for the whole run, so that TensorFlow is imported into a fork server once; it gives recorded answers."""
    folder, keeps = tmp_path_factory.mktemp("engine"), recording_folder()
    made = RecordedEngine(
        folder,
        {"light": 2, "tensorflow": 2},
        1 << 62,
        replays=not LIVE,
        turn=commit,
        keeps=None if keeps is None else keeps / f"{os.getpid()}.jsonl",
    )
    yield made
    made.stop()
    if counts := os.environ.get("STETHOSCOPE_TEST_GIVEN"):
        told = {"given": sorted(made.given), "ran_as": made.ran_as, "ran": made.ran}
        (Path(counts) / f"{os.getpid()}.json").write_text(json.dumps(told), "utf-8")


@pytest.fixture
def live_engine(engine: RecordedEngine) -> Iterator[Engine]:
    """That engine, every job run by a worker."""
    with engine.live():
        yield engine


@pytest.fixture(scope="session")
def commands(engine) -> Commands:
    """The command line on that engine."""
    return Commands(engine)
