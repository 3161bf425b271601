"""What an upload is, is told by its content; what it was sent as decides where that leaves it open."""

from __future__ import annotations

import io
import json
import shutil
import sqlite3
import tarfile
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from stethoscope.data import all_readers
from stethoscope.jobs.store import upload_kinds
from stethoscope.jobs.store.upload_kinds import kind_of
from stethoscope.logs.mlflow_run import MlflowRun, Points, write_store
from stethoscope.types import ModelFile, UploadKind
from tests.logs import made_mlflow
from tests.logs.event_writing import event, first_record, simple
from tests.small_models import tiny_onnx

DATA, LOGS, MODEL, SCRIPT = UploadKind.DATA, UploadKind.LOGS, UploadKind.MODEL, UploadKind.SCRIPT
EVENTS = first_record() + b"".join(event(step, simple("loss", 1.0)) for step in range(3))
LOSSES = "epoch,loss,val_loss\n0,3,3\n1,2,2\n"
BUILT = Path(__file__).parents[3] / "sample_models" / "built"


def picture() -> bytes:
    content = io.BytesIO()
    Image.new("L", (4, 4)).save(content, "png")
    return content.getvalue()


def packed(**members: bytes | str) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return content.getvalue()


def table() -> bytes:
    content = io.BytesIO()
    pyarrow.parquet.write_table(pa.table({"a": [1, 2], "b": [3, 4]}), content)
    return content.getvalue()


def array() -> bytes:
    content = io.BytesIO()
    np.savez(content, x=np.zeros((3, 2)))
    return content.getvalue()


def tarred(**members: bytes) -> bytes:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        for name, text in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text))
    return content.getvalue()


def kind(folder: Path, content: bytes | str, name: str, expected: UploadKind | None = None) -> UploadKind:
    path = folder / "stored"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return kind_of(ModelFile(path, name), expected)


@pytest.mark.parametrize(
    ("content", "name", "what"),
    [
        (b"\x89HDF\r\n\x1a\n", "net.h5", MODEL),
        (packed(**{"config.json": "{}", "metadata.json": "{}"}), "net.keras", MODEL),
        (packed(**{"net/saved_model.pb": "x", "net/assets/a.png": picture()}), "net.zip", MODEL),
        (packed(**{"a.onnx": "x", "notes.csv": LOSSES}), "net.zip", MODEL),
        (table(), "rows.pq", DATA),
        (table(), "rows", DATA),
        (array(), "rows.npz", DATA),
        (json.dumps([{"a": 1}, {"a": 2}]), "rows.json", DATA),
        ("a\tb\n1\t2\n3\t4\n", "rows.tab", DATA),
        ("It was good.\nIt was not.\n", "reviews.text", DATA),
        (picture(), "a.png", DATA),
        (LOSSES, "training.csv", DATA),
        (packed(**{"cat/a.png": picture(), "dog/b.png": picture()}), "photos.zip", DATA),
        (packed(**{"a.csv": "x,y\n1,2\n", "b.csv": "x,y\n1,2\n"}), "tables.zip", DATA),
        (EVENTS, "events.out.tfevents.1.host", LOGS),
        (EVENTS, "renamed.bin", LOGS),
        (packed(**{"run/train/events.out.tfevents.1.host": EVENTS, "run/notes.csv": "a,b\n1,2\n"}), "run.zip", LOGS),
        (tarred(**{"run/events.out.tfevents.1.host": EVENTS, "run/a.png": picture()}), "run.tar.gz", LOGS),
        (packed(**{"runs/a.csv": LOSSES, "runs/b.csv": LOSSES}), "runs.zip", LOGS),
        ("import keras\n", "train.py", SCRIPT),
        ('{"cells": [], "nbformat": 4}', "train.ipynb", SCRIPT),
        (b"\x00\x01", "compiled.py", MODEL),
        (b"", "nothing.csv", MODEL),
        (bytes(range(7, 256)), "odd.bin", MODEL),
        (packed(a=b"\x00\x01"), "odd.zip", MODEL),
        (packed(a=b"1")[:30], "cut.zip", MODEL),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 40 else "",
)
def test_content_tells(tmp_path, content, name, what):
    assert kind(tmp_path, content, name) is what


@pytest.mark.parametrize(
    ("content", "name", "expected", "what"),
    [
        (LOSSES, "training.csv", LOGS, LOGS),
        (packed(**{"runs/a.csv": LOSSES}), "runs.zip", DATA, DATA),
        (packed(**{"a.onnx": "x", "a.png": picture()}), "both.zip", DATA, DATA),
        (bytes(range(7, 256)), "odd.bin", DATA, DATA),
        (packed(a=b"\x00\x01"), "odd.zip", LOGS, LOGS),
        (b"\x89HDF\r\n\x1a\n", "net.h5", DATA, MODEL),
        (EVENTS, "events.out.tfevents.1.host", DATA, LOGS),
        (array(), "rows.npz", LOGS, DATA),
    ],
)
def test_what_it_was_sent_as_decides_only_what_is_open(tmp_path, content, name, expected, what):
    assert kind(tmp_path, content, name, expected) is what


def test_an_mlflow_database_is_a_log_and_nothing_is_written_beside_it(tmp_path, monkeypatch):
    path = tmp_path / "mlflow.db"
    points = Points()
    for step in range(10_000):
        points.add(step, 1000.0 * step, 1.0)
    write_store([MlflowRun("aa", "digits", "first", metrics={"loss": points})], path)
    assert path.stat().st_size > 128 << 10
    monkeypatch.setattr(upload_kinds, "_MOST_BYTES_OF_ONE", 4 << 10)
    monkeypatch.setattr(upload_kinds, "_MOST_BYTES_OF_DATABASE", 64 << 10)
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA journal_mode=WAL")
    database.close()
    before = sorted(tmp_path.iterdir())
    assert kind_of(ModelFile(path, "mlflow.db")) is LOGS
    assert sorted(tmp_path.iterdir()) == before


def test_a_folder_of_mlflow_is_a_log(tmp_path):
    place = made_mlflow.write_store(tmp_path, runs=3, metrics=2, points=4)
    packed_up = shutil.make_archive(str(tmp_path / "packed"), "tar", tmp_path, place.name)
    assert kind_of(ModelFile(Path(packed_up), "mlruns.tar")) is LOGS


def test_a_model_of_every_format_is_one(tmp_path):
    assert kind_of(ModelFile.at(tiny_onnx(tmp_path / "net.onnx"))) is MODEL
    for row in json.loads((BUILT / "manifest.json").read_text()):
        path = BUILT / row["file"]
        if path.exists():
            assert kind_of(ModelFile(path, "upload")) is UploadKind(row.get("kind", "model")), row["file"]
    assert kind_of(ModelFile(BUILT / "training_runs.logs.zip", "upload")) is LOGS


def test_a_large_compressed_tar_is_not_inflated(tmp_path, monkeypatch):
    content = tarred(**{"run/events.out.tfevents.1.host": EVENTS})
    monkeypatch.setattr(upload_kinds, "_MOST_PACKED_BYTES", len(content) - 1)
    assert kind(tmp_path, content, "run.tar.gz") is MODEL
    assert kind(tmp_path, content, "run.tar.gz", LOGS) is LOGS


@pytest.mark.parametrize("name", ["many.zip", "many.tar"])
def test_more_files_than_models_have_are_not_looked_at(tmp_path, monkeypatch, name):
    members = {f"net/{number}.onnx": b"x" for number in range(3)}
    for number, content in members.items():
        (tmp_path / "many" / number).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "many" / number).write_bytes(content)
    path = Path(shutil.make_archive(str(tmp_path / "many"), name.rpartition(".")[2], tmp_path / "many"))
    assert kind_of(ModelFile(path, name)) is MODEL
    monkeypatch.setattr(upload_kinds, "_MOST_OF_DIRECTORY_BYTES", 100)
    monkeypatch.setattr(upload_kinds, "_MOST_MEMBERS", 2)
    assert kind_of(ModelFile(path, name)) is DATA
    assert kind_of(ModelFile(path, name), LOGS) is LOGS


def test_uploads_that_end_at_once_do_not_get_each_others_kind(tmp_path):
    files = {}
    for number, (content, what) in enumerate(
        [(packed(**{"a.png": picture()}), DATA), (packed(**{"a.onnx": "x"}), MODEL), (EVENTS, LOGS)] * 6
    ):
        path = tmp_path / f"{number}"
        path.write_bytes(content)
        files[ModelFile(path, "any.zip")] = what
    with ThreadPoolExecutor(6) as threads:
        assert list(threads.map(kind_of, files)) == list(files.values())


def test_a_file_that_is_gone_is_what_it_was_sent_as(tmp_path):
    assert kind_of(ModelFile(tmp_path / "gone", "gone.csv")) is MODEL
    assert kind_of(ModelFile(tmp_path / "gone", "gone.csv"), DATA) is DATA


@given(
    st.binary(max_size=300),
    st.sampled_from(
        [b"", b"PK\x03\x04", b"\x1f\x8b", b"SQLite format 3\x00", b"\x89HDF\r\n\x1a\n", b"PAR1", b"{", b"\x93NUMPY"]
    ),
    st.sampled_from(
        sorted({end for reader in all_readers().values() for end in reader.extensions} | {".db", ".zip", ".pb"})
    ),
)
def test_no_content_makes_it_raise(tmp_path_factory, content, head, suffix):
    assert kind(tmp_path_factory.mktemp("any"), head + content, f"any{suffix}") in UploadKind
