"""The tab Fit to the model and the choice of data: one click makes it fit, and what was chosen is used where the model runs."""

from __future__ import annotations

import json
import re

import numpy as np

from dashboard import progress
from dashboard.data import data_fit_preview, data_fit_steps
from stethoscope.data.preprocessing import all_steps
from stethoscope.data.preprocessing.preparation import Preparation
from stethoscope.jobs.store import store
from stethoscope.settings import settings
from tests.dashboard import visiting
from tests.dashboard.visiting import HOSTILE, ME, PAGES, add, address, drawn, keys, open_page, settle
from tests.small_models import tiny_onnx

COUNT_UP = np.arange(24, dtype=np.float64).reshape(3, 2, 4)


def text(app):
    """What a reader sees: Markdown's escapes are not."""
    return visiting.text(app).replace("\\", "")


def data(tmp_path, name="data.npz", **arrays):
    np.savez(tmp_path / "data.npz", **arrays)
    return store().add_file(tmp_path / "data.npz", name, ME)


def test_one_click_makes_it_fit_and_undo_takes_it_back(app, tmp_path):
    entry, given = add(tmp_path, tiny_onnx), data(tmp_path, x=np.ones((5, 7), np.float32))
    open_page(app, "data", entry, data=given.id, tab="fit")
    shown = text(settle(app))
    assert "1 thing" in shown
    assert all(shape in shown for shape in ("(4,)", "(7,)"))
    app.button("fit-x-0").click()
    settle(app)
    assert address(app, "prep") == "select_columns~x~columns~[0,1,2,3]"
    assert "1 thing" not in text(app)
    assert "takes this data" in text(app)
    assert "fit-x-0" not in keys(app)
    assert "np.asarray(x)[..., [0, 1, 2, 3]]" in app.code[0].value
    app.button("prep-undo").click()
    settle(app)
    assert address(app, "prep") is None
    assert "1 thing" in text(app)
    assert "fit-x-0" in keys(app)


def test_steps_are_moved_removed_and_added_by_their_forms(app, tmp_path):
    entry, given = add(tmp_path, tiny_onnx), data(tmp_path, x=np.ones((5, 4), np.float32))
    open_page(app, "data", entry, data=given.id, tab="fit", prep="scale~x~factor~2~~clip~x~most~3")
    app.button("prep-up-1").click()
    settle(app)
    assert address(app, "prep") == "clip~x~most~3.0~~scale~x~factor~2.0"
    app.button("prep-remove-0").click()
    settle(app)
    assert address(app, "prep") == "scale~x~factor~2.0"
    for kind in all_steps():
        app.selectbox("prep-kind").set_value(kind)
        app.run()
        assert not app.exception, kind
        assert "prep-add" in keys(app), kind
    app.selectbox("prep-kind").set_value("scale")
    app.run()
    app.number_input("prep-scale-x-factor-").set_value(0.5)
    app.button("prep-add").click()
    settle(app)
    assert address(app, "prep") == "scale~x~factor~2.0~~scale~x~factor~0.5"


def test_a_step_that_does_not_apply_is_marked(app, tmp_path):
    entry, given = add(tmp_path, tiny_onnx), data(tmp_path, x=np.ones((5, 4), np.float32))
    open_page(app, "data", entry, data=given.id, tab="fit", prep="resize~x~height~4~width~4")
    settle(app)
    assert "Step 1 does not" in text(app)


def test_names_in_the_data_are_text(app, tmp_path):
    entry = add(tmp_path, tiny_onnx)
    given = data(tmp_path, name=f"{HOSTILE}.npz", x=np.ones((5, 4), np.float32))
    open_page(app, "data", entry, data=given.id, tab="fit", prep=f"flatten~{HOSTILE}")
    settle(app)
    shown = re.sub(r"`[^`]*`", "", drawn(app))
    for live in (r"(?<!\\)<img", r"(?<!\\)\[a", r"(?<!\\)\$x", r"(?<!\\):red"):
        assert not re.search(live, shown), live


def test_prediction_uses_the_steps(app, tmp_path):
    entry, given = add(tmp_path, tiny_onnx), data(tmp_path, x=COUNT_UP)
    open_page(
        app, "prediction", entry, data=given.id, prep="flatten~x~~select_columns~x~columns~[0,1,2,3]~~scale~x~factor~10"
    )
    assert "3 steps: flatten" in text(app)
    app.button("run-Predict").click()
    assert "3 samples predicted" in text(settle(app))
    state = progress.find(address(app, "job"))
    output = np.load(next(path for name, path in state.result.files.items() if name.endswith(".npy")))
    np.testing.assert_allclose(output, 20 * COUNT_UP.reshape(3, 8)[:, :4])
    names = {}
    exec(app.code[0].value.split("session =")[0].replace("'data.npz'", repr(str(tmp_path / "data.npz"))), names)
    np.testing.assert_allclose(names["inputs"]["x"], 10 * COUNT_UP.reshape(3, 8)[:, :4])
    assert "--prepare" in app.code[1].value


def test_consistency_runs_on_the_data(app, tmp_path):
    entry, given = add(tmp_path, tiny_onnx), data(tmp_path, x=np.ones((9, 8), np.float32))
    open_page(app, "consistency", entry, data=given.id, prep="select_columns~x~columns~[0,1,2,3]")
    app.button("run-Run the test").click()
    assert "Yes." in text(settle(app))
    state = progress.find(address(app, "job"))
    assert state.params["preparation"][0]["step"] == "select_columns"


def test_steps_stay_while_pages_change(app, tmp_path):
    entry, given = add(tmp_path, tiny_onnx), data(tmp_path, x=np.ones((9, 4), np.float32))
    open_page(app, "prediction", entry, data=given.id, prep="scale~x~factor~2")
    app.switch_page(PAGES["consistency"])
    settle(app)
    assert "1 step: ×2" in text(app)


def test_an_address_that_is_no_preparation_is_left_out(app, tmp_path):
    entry, given = add(tmp_path, tiny_onnx), data(tmp_path, x=np.ones((9, 4), np.float32))
    open_page(app, "prediction", entry, data=given.id, prep="pickle~x")
    assert "as it is" in text(app)
    assert address(app, "prep") is None


def test_many_numbers_are_kept_in_a_file_and_the_address_stays_short(app, tmp_path):
    wide = Preparation.from_json([{"step": "standardize", "of": "x", "mean": list(range(1_000)), "std": [1.5] * 1_000}])
    entry, given = add(tmp_path, tiny_onnx), data(tmp_path, x=np.ones((9, 4), np.float32))
    open_page(app, "data", entry, data=given.id, tab="fit", prep="kept-" + "0" * 32)
    assert address(app, "prep") is None, "steps that are not here any more"
    (settings().workspace / "preparations").mkdir(exist_ok=True)
    (settings().workspace / "preparations" / f"{'1' * 32}.txt").write_text(wide.to_address())
    open_page(app, "prediction", entry, data=given.id, prep="kept-" + "1" * 32)
    assert "standardize 1000 columns" in text(app)


def test_a_row_is_drawn_from_its_least_to_its_largest_value():
    centred = np.linspace(-1, 1, 3 * 16 * 16, dtype=np.float32).reshape(16, 16, 3)
    shown = data_fit_preview.as_image(centred, -1.0, 1.0)
    assert (shown.min(), shown.max(), shown.dtype) == (0, 255, np.uint8)
    assert data_fit_preview.as_image(centred.transpose(2, 0, 1), -1.0, 1.0).shape == (16, 16, 3)
    assert data_fit_preview.as_image(np.full((9, 9), np.nan), None, None).max() == 0
    assert data_fit_preview.as_image(np.ones((40, 3)), 0.0, 1.0) is None


def test_lists_are_read_as_they_are_typed():
    kind = all_steps()["standardize"]
    assert data_fit_steps._parsed(kind, {"mean": "1, 2;3 4", "std": "", "axis": -1}) == {
        "mean": ["1", "2", "3", "4"],
        "axis": -1,
    }
    labels = data_fit_steps._parsed(all_steps()["to_class_numbers"], {"classes": "a cat\n\nb, c\n"})
    assert json.loads(json.dumps(labels)) == {"classes": ["a cat", "b, c"]}
