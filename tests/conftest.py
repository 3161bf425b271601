"""Fixtures shared by every test."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from stethoscope.jobs.job_engine import Engine

PROJECT = Path(__file__).resolve().parents[1]


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
