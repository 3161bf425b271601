"""Models that misbehave, and a short way to make a job of one."""

from __future__ import annotations

from pathlib import Path

import pytest

from stethoscope.types import Budget, Job, ModelFile
from tests.small_models import endless_onnx, tiny_onnx


@pytest.fixture(scope="session")
def tiny(tmp_path_factory) -> Path:
    return tiny_onnx(tmp_path_factory.mktemp("models") / "tiny.onnx")


@pytest.fixture(scope="session")
def endless(tmp_path_factory) -> Path:
    return endless_onnx(tmp_path_factory.mktemp("models") / "endless.onnx")


def job(
    kind: str, path: Path, *, timeout_s: float = 60.0, memory_bytes: int = 1 << 30, sha256: str = "", **params
) -> Job:
    return Job(kind, {"model": ModelFile(path, path.name, sha256)}, params, Budget(memory_bytes, timeout_s))
