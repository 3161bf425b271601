"""The pages as a user meets them, on real (light) workers and small models."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest

from dashboard import analysis, progress
from dashboard.architecture import layer_columns
from dashboard.behaviour import prediction_parts
from sample_models import BUILT
from stethoscope.jobs.store import register_samples, store
from stethoscope.types import Status
from tests.dashboard.visiting import (
    HOSTILE,
    ME,
    OTHER,
    PAGES,
    add,
    address,
    badges,
    drawn,
    keys,
    open_page,
    settle,
    text,
    visitor,
)
from tests.small_models import endless_onnx, hungry_onnx, tiny_onnx
from tests.waiting import until


def test_every_page_renders_with_nothing_chosen_and_says_what_to_do(app):
    open_page(app, "overview")
    for url_path in sorted(PAGES):
        app.switch_page(PAGES[url_path])
        shown = text(settle(app))
        assert any(words in shown for words in ("Drop it here", "a model first", "data of then")), url_path


def test_a_link_to_a_removed_model_is_a_kind_sentence(app):
    app.query_params["model"] = "gone-gone-gone-gone"
    app.run()
    assert "is not here" in text(app)
    for url_path in sorted(PAGES):
        app.switch_page(PAGES[url_path])
        app.run()
        assert not app.exception, url_path


def test_hostile_names_stay_text(app, tmp_path):
    def make(path: Path) -> Path:
        model = onnx.load(tiny_onnx(path))
        model.graph.node[0].name = HOSTILE
        model.graph.output[0].name = model.graph.node[0].output[0] = HOSTILE
        onnx.save(model, path)
        return path

    open_page(app, "overview", add(tmp_path, make, HOSTILE + ".onnx"), layer=HOSTILE)
    for url_path in sorted(PAGES):
        app.query_params["layer"] = HOSTILE
        app.switch_page(PAGES[url_path])
        shown = re.sub(r"\\.", "", drawn(settle(app)))  # what a backslash protects
        outside_code = "".join(part for place, part in enumerate(shown.split("`")) if place % 2 == 0)
        for unsafe in ("<img", "](javascript", ":red[", " $x$"):
            assert unsafe not in outside_code, url_path


def test_overview_shows_the_card_and_where_to_go_next(app, tmp_path):
    shown = text(open_page(app, "overview", add(tmp_path, tiny_onnx)))
    for part in ("ONNX", "**16**", "to do next", "the parameters are"):
        assert part in shown


def test_samples_are_offered_and_open_with_one_click(app, tmp_path, workspace):
    folder = workspace.parent / "samples"
    tiny_onnx(folder / "tiny.onnx")
    about = {"file": "tiny.onnx", "title": "Tiny [x](javascript:y)", "behaviour": "Doubles its input."}
    (folder / "manifest.json").write_text(json.dumps([about]))
    register_samples(store(), folder)
    assert "Doubles its input" in text(open_page(app, "overview"))
    app.button("open-sample-sample-tiny").click()
    assert "to do next" in text(settle(app))
    assert app.query_params["model"] in ("sample-tiny", ["sample-tiny"])
    assert "remove" not in keys(app)


def test_an_unreadable_file_says_why(app, tmp_path):
    path = tmp_path / "cut.onnx"
    path.write_bytes(tiny_onnx(tmp_path / "whole.onnx").read_bytes()[:20])
    shown = text(open_page(app, "overview", store().add_file(path, "cut.onnx", ME)))
    assert "cannot be read" in shown
    assert "Traceback" not in shown


def test_the_owner_renames_and_removes_after_a_question(app, tmp_path):
    entry = add(tmp_path, tiny_onnx)
    open_page(app, "overview", entry)
    app.text_input[0].set_value("better.onnx")
    next(button for button in app.button if button.label == "Rename").click()
    app.run()
    assert store().get(entry.id).name == "better.onnx"
    app.button("remove").click()
    app.run()
    assert store().get(entry.id).name == "better.onnx"
    app.button("remove-yes").click()
    app.run()
    assert not store().list(ME)
    assert "Drop it here" in text(app)


def test_a_colleague_with_the_link_sees_everything_and_changes_nothing(app, tmp_path):
    open_page(app, "overview", add(tmp_path, tiny_onnx, owner=OTHER))
    assert "**16**" in text(app)
    assert not {"remove", "trust"} & set(keys(app))
    assert not app.text_input


@pytest.mark.parametrize("owner", [ME, OTHER])
def test_code_in_a_file_runs_only_after_its_owner_said_yes(app, tmp_path, monkeypatch, owner):
    entry = add(tmp_path, tiny_onnx, owner=owner)
    open_page(app, "overview", entry)
    state = analysis.describe(entry)
    hazard = {"rule": "lambda", "where": HOSTILE, "message": "Layer holds Python code."}
    result = replace(state.result, value={**state.result.value, "hazards": [hazard]})
    monkeypatch.setattr(analysis, "describe", lambda _entry: replace(state, result=result))
    open_page(app, "prediction", entry)
    assert app.button("run-Predict").disabled
    assert ("trust" in keys(app)) == (owner == ME)
    if owner == OTHER:
        assert "Only the owner" in text(app)
        return
    app.button("trust").click()
    app.run()
    app.button("trust-yes").click()
    app.run()
    assert store().get(entry.id).trusted
    assert not app.button("run-Predict").disabled


def test_a_yes_that_would_not_let_it_run_is_not_asked_for(app, tmp_path, monkeypatch):
    entry = store().add_file(BUILT / "unknown_layer.keras", "gated.keras", ME)
    open_page(app, "overview", entry)
    state = analysis.describe(entry)
    hazard = {"rule": "lambda", "where": "lam", "message": "Layer holds Python code."}
    for lacking in (True, False):
        told = {**state.result.value, "hazards": [hazard], **({} if lacking else {"missing": []})}
        result = replace(state.result, value=told)
        monkeypatch.setattr(analysis, "describe", lambda _entry, result=result: replace(state, result=result))
        for page in ("overview", "prediction"):
            open_page(app, page, entry)
            assert "GatedDense" in text(app) and "Holds code" in badges(app)
            assert "trust" not in keys(app) and ("give" in keys(app)) == lacking


@pytest.mark.parametrize("owner", [ME, OTHER])
def test_code_that_a_file_only_names_is_given_by_its_owner(app, owner):
    entry = store().add_file(BUILT / "unknown_layer.keras", "gated.keras", owner)
    open_page(app, "overview", entry)
    assert "GatedDense" in text(app) and "trust" not in keys(app)
    assert ("give" in keys(app)) == (owner == ME)
    if owner == OTHER:
        return
    app.button("give").click()
    app.run()
    app.text_area("own-code-text").set_value("import keras\nclass GatedDense(keras.layers.Layer): pass")
    app.run()
    app.button("own-code-yes").click()
    app.run()
    code = store().get(entry.id).code
    assert code is not None and b"GatedDense" in code.path.read_bytes()
    until(lambda: "take-code" in keys(settle(app)))
    assert not analysis.architecture_in(analysis.describe(store().get(entry.id)).result).missing
    app.button("take-code").click()
    app.run()
    assert store().get(entry.id).code is None


def test_every_page_offers_samples_while_nothing_is_chosen(app, workspace):
    folder = workspace.parent / "samples"
    tiny_onnx(folder / "tiny.onnx")
    (folder / "manifest.json").write_text(json.dumps([{"file": "tiny.onnx", "title": "Tiny"}]))
    register_samples(store(), folder)
    open_page(app, "consistency")
    app.button("empty-sample-tiny").click()
    # While the model is read there is nothing to cancel: that says nothing of whether the page is done.
    until(lambda: "run-Run the test" in keys(settle(app)))


def test_a_fixed_batch_is_said_before_the_run(app, tmp_path):
    def fixed(path: Path) -> Path:
        model = onnx.load(tiny_onnx(path))
        model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 7
        onnx.save(model, path)
        return path

    entry = add(tmp_path, fixed)
    for page in ("consistency", "prediction"):
        assert "exactly 7 rows" in text(open_page(app, page, entry))


@pytest.mark.parametrize(
    ("batch", "fits", "failed", "offered"),
    [(32, 3, {32}, 3), (3, 3, {32, 3}, 1), (32, 3, {32, 3}, 1), (64, 0, {64}, 32), (1, 0, {1}, 0), (8, 20, {8}, 4)],
)
def test_what_ran_out_of_memory_is_not_offered_again(batch, fits, failed, offered):
    assert prediction_parts.next_batch(batch, fits, failed) == offered


def test_architecture_selects_the_layer_in_the_address_and_has_one_row_per_layer(app, tmp_path):
    entry = add(tmp_path, tiny_onnx)
    open_page(app, "architecture", entry, layer="project")
    assert "`project`" in text(app)
    assert "16 parameters" in text(app)
    architecture = analysis.architecture_in(analysis.describe(entry).result)
    names, kind, shape, number = layer_columns.columns(architecture, {}, ("shape", "parameters"))
    assert (names.texts, kind.texts, shape.texts, number.values) == (["project"], ["MatMul"], ["batch × 4"], [16])


def test_consistency_says_yes_what_was_tested_and_is_found_again(live_engine, app, tmp_path):
    entry = add(tmp_path, tiny_onnx)
    open_page(app, "consistency", entry)
    app.button("run-Run the test").click()
    shown = text(settle(app))
    assert badges(app)["Consistent"] == "green"
    for group in ("Determinism", "Batch", "Mode", "Save and reload", "Edge-case inputs"):
        assert f"**{group}**" in shown
    assert "out as NaN" in shown
    link = address(app, "job")
    assert link
    app.switch_page(PAGES["overview"])
    assert "Yes. The same" in text(settle(app))
    app.switch_page(PAGES["consistency"])
    assert badges(settle(app))["Consistent"] == "green"
    assert badges(visitor("consistency", model=entry.id, job=link))["Consistent"] == "green"


def test_a_consistency_run_that_died_shows_what_was_known(app, tmp_path, monkeypatch):
    entry = add(tmp_path, tiny_onnx)
    open_page(app, "consistency", entry)
    app.button("run-Run the test").click()
    settle(app)
    state = analysis.last(entry, "consistency")
    tests = [test for test in state.result.value["tests"] if test["group"] == "determinism"]
    died = {**tests[0], "id": "edge-huge", "group": "robustness", "name": "Huge numbers", "passed": False}
    value = {**state.result.value, "tests": [*tests, {**died, "detail": "The process died here."}]}
    crashed = replace(state, result=replace(state.result, status=Status.CRASHED, value=value))
    monkeypatch.setattr(progress, "find", lambda _job_id: crashed)
    shown = text(settle(app)).replace("\\", "")
    assert badges(app)["Crashed"] == "red"
    assert "Consistent" not in badges(app)
    assert "process died here" in shown
    assert "in every bit" in shown


def test_prediction_shows_output_memory_time_and_code(app, tmp_path):
    open_page(app, "prediction", add(tmp_path, tiny_onnx))
    app.button("run-Predict").click()
    shown = text(settle(app))
    for part in ("32 samples predicted", "Peak memory", "Time per sample"):
        assert part in shown
    assert "onnxruntime" in app.code[0].value
    assert app.code[1].value.startswith("stethoscope predict model.onnx")


def test_prediction_on_uploaded_data(app, tmp_path):
    entry = add(tmp_path, tiny_onnx)
    np.savez(tmp_path / "data.npz", x=np.ones((3, 4), np.float32))
    data = store().add_file(tmp_path / "data.npz", "data.npz", ME)
    open_page(app, "prediction", entry, input="Your data", data=data.id)
    app.button("run-Predict").click()
    assert "3 samples predicted" in text(settle(app))


def test_data_that_does_not_fit_is_a_sentence(app, tmp_path):
    entry = add(tmp_path, tiny_onnx)
    np.savez(tmp_path / "data.npz", x=np.ones((3, 5), np.float32))
    data = store().add_file(tmp_path / "data.npz", "data.npz", ME)
    open_page(app, "prediction", entry, input="Your data", data=data.id)
    app.button("run-Predict").click()
    assert "Input does not fit" in badges(settle(app))


def test_out_of_memory_is_a_report_with_a_way_out(app, tmp_path):
    open_page(
        app, "prediction", add(tmp_path, lambda path: hungry_onnx(path, 8)), limit="512", batch="64", samples="64"
    )
    app.button("run-Predict").click()
    shown = text(settle(app))
    assert badges(app)["Out of memory"] == "red"
    for part in ("Phase", "widen", "would fit"):
        assert part in shown
    app.button("smaller").click()
    settle(app)
    assert 0 < app.number_input("batch").value < 64


def test_a_running_job_shows_everywhere_and_cancels(app, tmp_path):
    open_page(app, "prediction", add(tmp_path, endless_onnx))
    app.button("run-Predict").click()
    app.run()
    assert any(key.startswith("cancel-side") for key in keys(app))
    app.switch_page(PAGES["consistency"])
    app.run()
    cancel = next(button for button in app.button if (button.key or "").startswith("cancel-side"))
    cancel.click()
    app.run()
    app.switch_page(PAGES["prediction"])
    assert badges(settle(app)) == {"Cancelled": "gray"}


def test_a_bug_becomes_a_short_id_and_its_traceback_goes_to_the_log(app, tmp_path, monkeypatch, caplog):
    def broken(*_args: object, **_kwargs: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(analysis, "describe", broken)
    shown = text(open_page(app, "overview", add(tmp_path, tiny_onnx)))
    assert "report id" in shown
    assert "secret detail" not in shown
    assert "secret detail" in caplog.text
