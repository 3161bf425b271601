"""A whole data set studied: tables from the start, files of an archive at random, within a time."""

from __future__ import annotations

import io
import json
import wave
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from stethoscope.codec import answer_of, decode, plain
from stethoscope.data import open_data
from stethoscope.data.study.marks import Counted
from stethoscope.data.study.study import StudiedData, Study
from stethoscope.types import Budget, Job, ModelFile, Status


def studied(path: Path, time_s: float = 60.0) -> StudiedData:
    with open_data(ModelFile.at(path), 1 << 30) as data:
        study = Study(data)
        study.run(time_s, lambda fraction, message: None)
        return decode(StudiedData, json.loads(json.dumps(plain(study.result()), allow_nan=False)))


def field(found: StudiedData, name: str) -> Any:
    return next(one.of for one in found.fields if one.name == name)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.csv"
    rows = ["a,b,c,city,label"]
    rows += [
        f"{number},{number * 2.5},1,{'Bonn' if number % 3 else ''},{'yes' if number % 4 else 'no'}"
        for number in range(100)
    ]
    rows += ["5,12.5,1,Bonn,yes", "5,12.5,1,Bonn,no", ",1.5,1,Bonn,yes"]
    path.write_text("\n".join(rows) + "\n")
    return path


def test_a_table_is_studied_field_by_field(table):
    found = studied(table)
    assert (found.rows, found.rows_read, found.complete, found.order) == (103, 103, True, "first")
    assert field(found, "a").max == 99
    assert field(found, "a").nan == 1
    assert field(found, "city").missing == 34
    assert "c" in found.constant
    assert found.rows_with_missing == 1
    assert {one.value: one.count for one in found.classes.values} == {"yes": 77, "no": 26}
    assert found.repeats.repeated_rows == 2
    assert found.repeats.conflicting_rows == 3
    relations = found.relations
    assert relations.matrix[relations.names.index("a")][relations.names.index("b")] == pytest.approx(1, abs=0.01)


def test_pictures_of_an_archive_are_studied_with_their_classes(tmp_path):
    path = tmp_path / "pictures.zip"
    generator = np.random.default_rng(0)
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(12):
            out = io.BytesIO()
            Image.fromarray(generator.integers(0, 256, (20 + number, 30, 3), dtype=np.uint8)).save(out, "PNG")
            archive.writestr(f"set/{'cat' if number % 3 else 'dog'}/{number}.png", out.getvalue())
        archive.writestr("set/dog/broken.png", b"\x89PNG\r\n\x1a\nnothing")
    found = studied(path)
    assert (found.rows_read, found.damaged, found.order) == (12, 1, "random")
    assert {one.value: one.count for one in found.classes.values} == {"cat": 8, "dog": 4}
    assert field(found, "image").distinct_sizes == 12


def test_what_is_not_reached_in_time_is_said(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n" + "".join(f"{number},{number % 7}\n" for number in range(60_000)))
    found = studied(path, time_s=1e-6)
    assert 0 < found.rows_read < 60_000
    assert not found.complete


def test_one_hot_targets_are_classes(tmp_path):
    path = tmp_path / "data.npz"
    np.savez(path, x=np.random.default_rng(0).normal(size=(30, 4)), y=np.eye(3)[np.arange(30) % 3])
    assert {one.value for one in studied(path).classes.values} == {"0", "1", "2"}


def test_a_target_that_is_a_quantity_has_no_classes(tmp_path):
    path = tmp_path / "data.npz"
    np.savez(path, x=np.zeros((30, 4)), y=np.linspace(0, 1, 30))
    assert studied(path).classes is None


def test_the_task_answers_in_a_worker(engine, table):
    result = engine.wait(engine.submit(Job("study_data", {"data": ModelFile.at(table)}, {}, Budget(1 << 30, 60))))
    assert result.status is Status.OK, result.reason
    found = answer_of(result, StudiedData)
    assert found.about.rows == 103
    assert found.fields


def test_masks_are_counted_by_class_and_dates_over_time(tmp_path):
    masks = np.zeros((4, 8, 8), np.uint8)
    masks[:2, :4] = 2
    np.savez(tmp_path / "masks.npz", images=np.zeros((4, 8, 8, 3), np.uint8), masks=masks)
    told = field(studied(tmp_path / "masks.npz"), "masks")
    assert told.study == "mask"
    assert [(one.value, one.count, one.rows) for one in told.values] == [(0, 192, 4), (2, 64, 2)]


def test_dates_are_told_from_first_to_last(tmp_path):
    path = tmp_path / "dates.csv"
    days = [f"2024-{1 + number // 28:02}-{1 + number % 28:02}" for number in range(200)]
    days[100:102] = ["", "soon"]
    path.write_text("when,a\n" + "".join(f"{day},{number}\n" for number, day in enumerate(days)))
    told = field(studied(path), "when")
    assert told.study == "date"
    assert (told.first[:10], told.last[:10]) == ("2024-01-01", "2024-08-04")
    assert (told.seconds.count, told.missing, told.unread) == (198, 1, 1)


def test_splits_of_pictures_are_counted_and_unmarked_twins_do_not_contradict(tmp_path):
    path = tmp_path / "boxes.zip"
    out = io.BytesIO()
    Image.new("RGB", (20, 20)).save(out, "PNG")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data.yaml", "names: [cat]")
        for number in range(4):
            archive.writestr(f"images/train/{number}.png", out.getvalue())
            archive.writestr(f"labels/train/{number}.txt", "0 .5 .5 .2 .2\n" if number else "")
    found = studied(path)
    assert field(found, "split").values == (Counted("train", 4),)
    assert found.repeats.repeated_rows == 3
    assert found.repeats.conflicting_rows == 0


def test_recordings_that_cannot_be_read_are_damaged_and_no_twins(tmp_path):
    path = tmp_path / "sounds.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("low", "high"):
            for number in range(3):
                sound = io.BytesIO()
                with wave.open(sound, "wb") as out:
                    out.setparams((1, 2, 8_000, 0, "NONE", ""))
                    out.writeframes(np.full(100 + number + 10 * len(name), 7, "<i2").tobytes())
                archive.writestr(f"{name}/{number}.wav", sound.getvalue())
            archive.writestr(f"{name}/broken.wav", b"RIFF")
    found = studied(path)
    assert (found.rows_read, found.damaged, found.complete) == (6, 2, True)
    assert (found.repeats.conflicting_rows, found.repeats.repeated_rows) == (0, 0)
