"""Fixtures shared by every test."""

from __future__ import annotations

import fcntl
import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from stethoscope.jobs.job_engine import Engine
from tests.commands import Commands

PROJECT = Path(__file__).resolve().parents[1]


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Keeps the other workers of pytest-xdist waiting while a test runs that is marked `alone`."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        return (yield)
    with _turn(item.config.cache.mkdir("turns"), alone=item.get_closest_marker("alone") is not None):
        return (yield)


@contextmanager
def _turn(folder: Path, *, alone: bool) -> Iterator[None]:
    with (folder / "door").open("w") as door, (folder / "room").open("w") as room:
        # Who waits for an empty room keeps the door shut, so that the others cannot go on taking turns.
        fcntl.flock(door, fcntl.LOCK_EX)
        fcntl.flock(room, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        fcntl.flock(door, fcntl.LOCK_UN)
        try:
            yield
        finally:
            fcntl.flock(room, fcntl.LOCK_UN)


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
def engine(tmp_path_factory) -> Iterator[Engine]:
    """One engine for the whole run, so that TensorFlow is imported into a fork server once."""
    made = Engine(tmp_path_factory.mktemp("engine"), {"light": 2, "tensorflow": 2}, 1 << 62)
    yield made
    made.stop()


@pytest.fixture(scope="session")
def commands(engine) -> Commands:
    """The command line on that engine."""
    return Commands(engine)
