"""Archives come out the same whenever they are made."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path

from sample_models.canonical import pack, save_keras


class _Saves:
    """Writes what Keras writes: a date and addresses that change."""

    def __init__(self, date: str, address: int) -> None:
        self.date, self.address = date, address

    def save(self, path: Path) -> None:
        config = {"layers": [{"shared_object_id": self.address}, {"shared_object_id": self.address + 8}]}
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("model.weights.h5", b"weights")
            archive.writestr("metadata.json", json.dumps({"keras_version": "3.15.1", "date_saved": self.date}))
            archive.writestr("config.json", json.dumps(config))


def test_a_keras_file_has_no_date_and_no_addresses(tmp_path: Path) -> None:
    first = save_keras(_Saves("2026-01-01@10:00:00", 140_001), tmp_path / "first.keras")
    second = save_keras(_Saves("2026-02-02@20:00:00", 990_009), tmp_path / "second.keras")
    assert first.read_bytes() == second.read_bytes()
    with zipfile.ZipFile(first) as archive:
        shared = [layer["shared_object_id"] for layer in json.loads(archive.read("config.json"))["layers"]]
        assert json.loads(archive.read("metadata.json"))["keras_version"] == "3.15.1"
        assert archive.read("model.weights.h5") == b"weights"
    assert shared == [1, 2]


def test_a_packed_folder_does_not_depend_on_file_times(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name / "variables").mkdir(parents=True)
        (tmp_path / name / "saved_model.pb").write_bytes(b"graph")
        (tmp_path / name / "variables" / "variables.index").write_bytes(b"index")
    os.utime(tmp_path / "two" / "saved_model.pb", (1e9, 1e9))
    one, two = pack(tmp_path / "one", tmp_path / "one.zip"), pack(tmp_path / "two", tmp_path / "two.zip")
    assert one.read_bytes() == two.read_bytes()
    with zipfile.ZipFile(one) as archive:
        assert archive.namelist() == ["saved_model.pb", "variables/variables.index"]
