from __future__ import annotations

from types import SimpleNamespace

import pytest

from dashboard.routes import downloads
from stethoscope.errors import NotFound


@pytest.fixture
def job(tmp_path, monkeypatch):
    """A finished job with one output, in an engine that knows nothing else."""
    path = tmp_path / "out.npy"
    path.write_bytes(b"\x93NUMPY")

    def state(job_id: str):
        if job_id == "job-0123456789abcdef":
            return SimpleNamespace(result=SimpleNamespace(files={"dense 1.npy": path}))
        if job_id == "running-0123456789":
            return SimpleNamespace(result=None)
        raise NotFound("no such job")

    monkeypatch.setattr(downloads, "engine", lambda: SimpleNamespace(state=state))


def test_an_output_is_downloaded_never_shown(server, job):
    answer = server.ask("GET", "/api/jobs/job-0123456789abcdef/files/dense%201.npy")
    assert (answer.status, answer.body) == (200, b"\x93NUMPY")
    assert answer.headers["content-disposition"].startswith("attachment")
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in answer.headers["content-security-policy"]


@pytest.mark.parametrize(
    "path",
    [
        "job-0123456789abcdef/files/other.npy",
        "job-0123456789abcdef/files/..%2f..%2fcookie.key",
        "running-0123456789/files/dense%201.npy",
        "unknown-0123456789/files/dense%201.npy",
        "..%2f..%2fx/files/dense%201.npy",
    ],
)
def test_anything_else_is_not_found(server, job, path):
    answer = server.ask("GET", f"/api/jobs/{path}")
    assert answer.status == 404
