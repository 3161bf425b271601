"""The download of a converted model: one file as it is, several as a zip that is made while it is sent."""

from __future__ import annotations

import io
import zipfile
from types import SimpleNamespace

import pytest

from dashboard.routes import conversions, downloads
from dashboard.routes.conversions import Converted
from stethoscope.errors import NotFound
from tests.answers import answer, state_of

ONE, TWO, NOTHING, RUNNING = (
    "one-0123456789abcdef",
    "two-0123456789abcdef",
    "not-0123456789abcdef",
    "run-0123456789abcdef",
)


@pytest.fixture
def jobs(tmp_path, monkeypatch):
    files = {}
    for name, size in (("model.onnx", 1000), ("model.onnx.data", 3 << 20), ("secret.npy", 8)):
        files[name] = tmp_path / name
        files[name].write_bytes(bytes(range(250)) * (size // 250 + 1))
    values = {
        ONE: answer("convert"),
        TWO: answer("convert", beside=["model.onnx.data"]),
        NOTHING: answer("convert", file="../../cookie.key"),
    }

    def state(job_id: str):
        if job_id == RUNNING:
            return SimpleNamespace(result=None)
        if job_id not in values:
            raise NotFound("no such job")
        return state_of("convert", values[job_id], files=files)

    for module in (conversions, downloads):
        monkeypatch.setattr(module, "engine", lambda: SimpleNamespace(state=state))
    return files


def test_one_file_is_sent_as_it_is_under_the_name_asked_for(server, jobs):
    answer = server.ask("GET", f"/api/jobs/{ONE}/converted/my%20cats.onnx")
    assert (answer.status, answer.body) == (200, jobs["model.onnx"].read_bytes())
    assert 'filename="my_cats.onnx"' in answer.headers["content-disposition"]
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_the_ending_follows_from_what_it_is_not_from_the_link(server, jobs):
    answer = server.ask("GET", f"/api/jobs/{ONE}/converted/cats.html")
    assert 'filename="cats.onnx"' in answer.headers["content-disposition"]


def test_a_model_with_weights_beside_it_is_a_zip_that_any_reader_opens(server, jobs):
    answer = server.ask("GET", f"/api/jobs/{TWO}/converted/cats_onnx.zip")
    assert answer.status == 200
    assert "cats_onnx.zip" in answer.headers["content-disposition"]
    with zipfile.ZipFile(io.BytesIO(answer.body)) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == ["model.onnx", "model.onnx.data"]
        assert archive.read("model.onnx.data") == jobs["model.onnx.data"].read_bytes()
        assert "secret.npy" not in archive.namelist()


@pytest.mark.parametrize("job", [NOTHING, RUNNING, "unknown-0123456789", "..%2f..%2fx"])
def test_anything_else_is_not_found(server, jobs, job):
    assert server.ask("GET", f"/api/jobs/{job}/converted/x.onnx").status == 404


def test_no_more_than_a_part_of_it_is_in_memory(jobs):
    found = Converted((jobs["model.onnx"], jobs["model.onnx.data"]))
    sizes = [len(chunk) for chunk in found.chunks()]
    assert max(sizes) < 1.1 * (1 << 20)
    assert sum(sizes) > found.size_bytes


@pytest.mark.parametrize(
    ("source", "target", "left", "name"),
    [
        ("cats.keras", "onnx", "model.onnx", "cats.onnx"),
        ("cats.keras", "tflite-int8", "model.tflite", "cats_int8.tflite"),
        ("cats.tar.gz", "frozen_graph", "model.pb", "cats.pb"),
        ("cats.saved_model.zip", "saved_model", "saved_model.zip", "cats_saved_model.zip"),
        ("../<b>.keras", "onnx", "model.onnx", "b_.onnx"),
        (".keras", "onnx", "model.onnx", "keras.onnx"),
    ],
)
def test_the_name_follows_from_the_source_and_the_target(tmp_path, source, target, left, name):
    found = Converted((tmp_path / left,))
    assert conversions.file_name(source, target, found) == name
