"""The page Data as a user meets it: any data, with and without a model."""

from __future__ import annotations

import io
import json
import re
import zipfile

import numpy as np
import pytest
from PIL import Image

from dashboard import session
from dashboard.data import chosen_data, data_doubts, fiftyone_process
from stethoscope.evidence.judged_labels import Doubt
from stethoscope.jobs.store import register_samples, store
from stethoscope.types import UploadKind
from tests.dashboard.visiting import HOSTILE, ME, add, drawn, keys, open_page, settle, text
from tests.small_models import tiny_onnx


def picture(size=(20, 10)) -> bytes:
    content = io.BytesIO()
    Image.new("RGB", size, (10, 120, 30)).save(content, "PNG")
    return content.getvalue()


@pytest.fixture
def images(tmp_path):
    path = tmp_path / "animals.zip"
    with zipfile.ZipFile(path, "w") as made:
        for name in ("cat/a.png", "cat/b.png", "dog/c.png"):
            made.writestr(zipfile.ZipInfo(name), picture())
        made.writestr(zipfile.ZipInfo("dog/broken.png"), picture()[:40])
    return path


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("size,colour,kind\n" + "1,red,yes\n2,blue,no\n" * 30)
    return path


def stored(path, name=""):
    return store().add_file(path, name or path.name, ME)


def test_images_are_shown_without_a_model(app, images):
    shown = text(open_page(app, "data", data=stored(images, "animals.zip").id))
    assert "Images in folders" in shown and "4 rows" in shown and "2 classes" in shown
    assert "1–4 of 4" in shown


def test_rows_are_narrowed_by_the_address(app, images):
    shown = text(open_page(app, "data", data=stored(images).id, **{"class": "cat"}))
    assert "1–2 of 2 rows" in shown.replace("\\", "")


def test_one_row_of_the_link_is_shown_large_with_its_problem(app, images):
    entry = stored(images)
    shown = text(open_page(app, "data", data=entry.id, place="0"))
    assert all(part in shown for part in ("20 × 10", "row 0, of"))
    app.button("one-after").click()
    assert "row 1, of" in text(settle(app))
    app.button("all-samples").click()
    assert "1–4 of 4" in text(settle(app))


def test_a_table_is_a_table_and_its_target_can_be_changed(app, table):
    shown = text(open_page(app, "data", data=stored(table).id))
    assert "CSV table" in shown
    (rows,) = [frame.value for frame in app.dataframe if len(frame.value) > 10]
    assert list(rows["row"])[:3] == [0, 1, 2]
    choice = next(box for box in app.selectbox if box.label == "Target")
    choice.set_value("colour")
    settle(app)
    assert "colour" in str(app.query_params["target"])


def test_pages_follow_each_other(app, tmp_path):
    path = tmp_path / "x.npz"
    np.savez(path, x=np.random.default_rng(0).random((60, 8, 8, 1), np.float32), y=np.arange(60) % 5)
    assert "1–24 of 60" in text(open_page(app, "data", data=stored(path).id))
    app.button("page-after").click()
    assert "25–48 of 60" in text(settle(app))
    app.number_input("go-to-row").set_value(55)
    assert "row 55, of" in text(settle(app))


def test_data_that_cannot_be_read_says_why_and_lets_go(app, tmp_path):
    path = tmp_path / "x.npz"
    path.write_bytes(b"PK\x03\x04 cut")
    assert "x" in text(open_page(app, "data", data=stored(path).id))
    app.button("other-data").click()
    assert "Drop it here" in text(settle(app))


def test_refused_data_is_called_data_and_no_model(app, tmp_path):
    np.savez(tmp_path / "objects.npz", x=np.array([{1: 2}, None], dtype=object))
    shown = text(open_page(app, "data", data=stored(tmp_path / "objects.npz").id))
    assert "This data holds" in shown
    assert "only pickle" in shown


def test_distributions_draw_the_target_once_and_dates_as_dates(app, tmp_path):
    path = tmp_path / "t.csv"
    rows = "".join(f"2024-01-{1 + place % 28:02},{place % 5},1,{'ab'[place % 2]}\n" for place in range(90))
    path.write_text(f"when,size,same,kind\n{rows}")
    page = open_page(app, "data", data=stored(path).id, tab="distributions")
    shown = text(page)
    assert "Dates" in shown and all(day in shown for day in ("2024-01-01 00:00", "2024-01-28 00:00"))
    assert not any("field-kind" in key for key in keys(page))


def test_a_link_to_data_that_is_gone_is_a_kind_sentence(app):
    assert "is not here" in text(open_page(app, "data", data="gone-gone-gone-gone"))
    app.button("other-data-gone").click()
    assert "Drop it here" in text(settle(app))


def test_hostile_names_and_texts_stay_text(app, tmp_path):
    path = tmp_path / "h.csv"
    path.write_text(
        f'"{HOSTILE.replace(chr(34), "")}",label\n' + '1,"<img src=x onerror=alert(1)>"\n2,[a](javascript:x)\n' * 9
    )
    shown = re.sub(r"\\.", "", drawn(open_page(app, "data", data=stored(path, HOSTILE + ".csv").id)))
    outside_code = "".join(part for place, part in enumerate(shown.split("`")) if place % 2 == 0)
    for unsafe in ("<img", "](javascript", ":red[", " $x$"):
        assert unsafe not in outside_code


def test_data_to_try_is_offered_and_opens_with_one_click(app, table, workspace):
    folder = workspace.parent / "samples"
    folder.mkdir()
    (folder / "flowers.csv").write_bytes(table.read_bytes())
    tiny_onnx(folder / "tiny.onnx")
    rows = [{"file": "flowers.csv", "title": "Flowers", "kind": "data"}, {"file": "tiny.onnx", "title": "Tiny"}]
    (folder / "manifest.json").write_text(json.dumps(rows))
    register_samples(store(), folder)
    assert "Flowers" in text(open_page(app, "data"))
    assert [entry.name for entry in session.sample_models()] == ["tiny.onnx"]
    app.button("open-try-sample-flowers").click()
    assert "CSV table" in text(settle(app))


def test_the_data_of_a_sample_model_belongs_to_it(app, workspace):
    folder = workspace.parent / "samples"
    tiny_onnx(folder / "tiny.onnx")
    np.savez(folder / "tiny.npz", x=np.zeros((20, 4), np.float32))
    (folder / "manifest.json").write_text(json.dumps([{"file": "tiny.onnx", "title": "Tiny", "data": "tiny.npz"}]))
    register_samples(store(), folder)
    entry = store().get("sample-tiny")
    assert chosen_data.with_model(entry).name == "tiny.npz"
    assert "20 rows" in text(open_page(app, "data", entry, data=session.WITH_MODEL))


def test_label_doubts_are_looked_for_with_a_model_and_without_one(app, tmp_path, table):
    data = stored(table)
    open_page(app, "data", data=data.id, tab="doubts")
    assert "run-doubts" in keys(app)
    open_page(app, "data", add(tmp_path, tiny_onnx), data=data.id, tab="doubts")
    assert "run-doubts" in keys(app)


def test_fiftyone_is_told_as_code_for_pictures_only(app, images, table):
    open_page(app, "data", data=stored(images).id, tab="fiftyone")
    code = "\n".join(str(block.value) for block in app.code)
    assert (
        "python -m stethoscope.cli.in_fiftyone animals.zip --rows 4" in code and "load('animals.zip', rows=4)" in code
    )
    assert "data has none" in text(open_page(app, "data", data=stored(table).id, tab="fiftyone"))


def test_the_csv_of_doubts_holds_no_formulas():
    doubt = Doubt(3, "=1+1", "@x", probability_given=0.1, probability_predicted=0.9, margin=-0.8)
    assert b"3,'=1+1,'@x,0.1,0.9" in data_doubts._csv([doubt])


def test_a_process_number_that_belongs_to_another_program_is_not_fiftyone(workspace, tmp_path, images):
    import os

    entry = stored(images)
    folder = fiftyone_process._folder(entry)
    folder.mkdir(parents=True)
    (folder / "process.json").write_text(json.dumps({"pid": os.getpid(), "port": 1}))
    (folder / "log.txt").write_text("FiftyOne shows 4 of 4 rows")
    assert fiftyone_process.running(entry).alive is False


def test_images_taken_for_a_model_are_opened_as_data(app, images):
    entry = store().set_kind(stored(images).id, ME, UploadKind.MODEL)
    open_page(app, "overview", entry)
    app.button("open-as-data").click()
    assert "Images in folders" in text(settle(app))
    opened = store().get(entry.id)
    assert (opened.name, opened.kind) == ("animals.zip", UploadKind.DATA)
