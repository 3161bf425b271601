"""The page Convert on real models and real conversions."""

from __future__ import annotations

import re
import signal

import pytest

from dashboard import analysis
from dashboard.routes import conversions, downloads
from sample_models import BUILT
from stethoscope.compare.convert import all_converters
from stethoscope.jobs.store import store
from stethoscope.models.formats import detect
from stethoscope.types import Status
from tests.compare.convert.deaths import end_the_converter
from tests.dashboard.visiting import ME, OTHER, add, badges, cancel, keys, open_page, reopened, said, settle
from tests.models.formats.tf_graphs import FLOAT, dense, node
from tests.small_models import tiny_onnx


@pytest.fixture
def wine(app):
    return store().add_file(BUILT / "wine_unscaled.keras", "wine.keras", ME)


@pytest.fixture(autouse=True)
def _one_engine(engine, monkeypatch):
    for module in (conversions, downloads):
        monkeypatch.setattr(module, "engine", lambda: engine)


def test_what_cannot_become_anything_says_why(app, tmp_path):
    shown = said(open_page(app, "convert", add(tmp_path, tiny_onnx)))
    assert "Nothing can be" in shown
    assert "ONNX model already" in shown
    assert "run-Convert" not in keys(app)


def test_a_file_with_one_way_out_is_offered_that_and_told_why_no_other(app):
    entry = store().add_file(BUILT / "digits_cnn.tflite", "digits.tflite", ME)
    app = open_page(app, "convert", entry)
    shown = said(app)
    assert "this file: TFLite (float32)," in shown
    assert shown.count("was made from") == 1
    assert "run-Convert" in keys(app)
    assert "run-all" not in keys(app)
    assert "opset" in [box.key for box in app.selectbox]


def test_a_model_is_converted_kept_and_reopened_by_its_link(live_engine, app, wine):
    open_page(app, "convert", wine, to="saved_model")
    assert "own runtime" in said(app)
    app.button("run-Convert").click()
    settle(app)
    assert badges(app) == {"Converted": "green"}
    assert app.dataframe[0].value["Same class"].tolist() == ["100 %"]
    link = app.get("link_button")[0].proto
    assert "wine_saved_model.zip" in link.url
    assert "Download wine" in link.label
    assert app.code[-1].value.startswith("stethoscope convert wine.keras --to saved_model")

    app.button("keep-converted").click()
    settle(app)
    made = next(one for one in store().list(ME) if one.name == "wine_saved_model.zip")
    assert detect(made.file).id == "saved_model"

    app.session_state["target-family"] = "Frozen graph"
    app.run()
    assert "Converted" not in badges(app)
    app.button("run-Convert").click()
    assert "2 of 2" in said(settle(app))

    fresh = reopened(app, "convert")
    assert "2 of 2" in said(fresh)
    assert fresh.dataframe[0].value["Result"].tolist() == ["converted", "converted"]
    assert fresh.get("link_button")[0].proto.url.endswith("/wine.pb")


def test_a_conversion_is_cancelled(app, wine):
    open_page(app, "convert", wine, to="tflite")
    app.button("run-Convert").click()
    assert badges(cancel(app)) == {"Cancelled": "gray"}


def test_a_converter_that_dies_says_so_and_what_to_do(app, engine):
    entry = store().add_file(BUILT / "bert_small.keras", "bert.keras", ME)
    open_page(app, "convert", entry, to="tflite")
    app.button("run-Convert").click()
    app.run()
    end_the_converter(engine, signal.SIGKILL)
    shown = said(settle(app))
    assert badges(app) == {"Crashed": "red"}
    assert "SIGKILL" in shown
    assert "once more" in shown
    assert "yet: ONNX" in shown


def test_of_many_conversions_the_sidebar_shows_a_few(app, engine, wine):
    open_page(app, "convert", wine)
    app.button("run-all").click()
    app.run()
    assert sum(key.startswith("cancel-side") for key in keys(app)) == 3
    assert re.search(r"^and \d more$", said(app), re.M)
    app.button("cancel-page-all").click()
    settle(app)
    ended = [one.result.status for one in engine.jobs(entry_id=wine.id) if one.kind == "convert"]
    assert len(ended) == len(all_converters())
    assert ended.count(Status.CANCELLED) > len(ended) / 2  # one or two may have been quicker


def test_a_failure_names_the_operator_its_layer_and_what_works(app, tmp_path):
    graph = dense()
    node(graph, "spectrum/odd", "Digamma", ["y"], T=FLOAT)
    (tmp_path / "odd.pb").write_bytes(graph.SerializeToString())
    app = open_page(app, "convert", store().add_file(tmp_path / "odd.pb", "odd.pb", ME), to="onnx")
    app.button("run-Convert").click()
    shown = said(settle(app))
    assert "lacks 1 operator" in shown
    assert {"Digamma", "spectrum/odd"} <= set(shown.split("`")[1::2])
    links = [one.proto for one in app.get("page_link") if one.proto.label.startswith("Show this layer")]
    assert [("layer=spectrum%2Fodd" in link.query_string) for link in links] == [True]
    assert "yet: TFLite (float32)" in shown


def test_code_in_a_file_is_not_converted_before_its_owner_said_yes(app, engine):
    entry = store().add_file(BUILT / "lambda_layer.keras", "lambda.keras", OTHER)
    engine.wait(analysis.describe(entry).id, 60)
    app = open_page(app, "convert", entry)
    assert "Only the owner" in said(app)
    assert app.button("run-Convert").disabled
    assert app.button("run-all").disabled
