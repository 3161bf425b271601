"""The page Convert on real models and real conversions."""

from __future__ import annotations

import re
import signal

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import analysis
from dashboard.routes import conversions, downloads
from stethoscope.formats import detect
from stethoscope.store import store
from tests.conftest import PROJECT
from tests.convert.deaths import end_the_converter
from tests.dashboard.visiting import ME, OTHER, add, keys, open_page, settle, text
from tests.formats.tf_graphs import FLOAT, dense, node
from tests.models import tiny_onnx

BUILT = PROJECT / "sample_models" / "built"


@pytest.fixture
def digits(app):
    return store().add_file(BUILT / "digits_cnn.keras", "digits.keras", ME)


@pytest.fixture(autouse=True)
def _one_engine(engine, monkeypatch):
    for module in (conversions, downloads):
        monkeypatch.setattr(module, "engine", lambda: engine)


def said(app: AppTest) -> str:
    return text(app).replace("\\", "").replace("\u2060", "")


def test_what_cannot_become_anything_says_why(app, tmp_path):
    shown = said(open_page(app, "convert", add(tmp_path, tiny_onnx)))
    assert "Nothing can be made from this file" in shown
    assert "It is an ONNX model already." in shown
    assert "run-Convert" not in keys(app)


def test_a_file_with_one_way_out_is_offered_that_and_told_why_no_other(app):
    entry = store().add_file(BUILT / "digits_cnn.tflite", "digits.tflite", ME)
    app = open_page(app, "convert", entry)
    shown = said(app)
    assert "Not from this file: TFLite (float32)," in shown
    assert shown.count("Convert the model that it was made from.") == 1
    assert "run-Convert" in keys(app)
    assert "run-all" not in keys(app)
    assert "opset" in [box.key for box in app.selectbox]


def test_a_model_is_converted_kept_and_reopened_by_its_link(app, digits):
    open_page(app, "convert", digits, to="saved_model")
    assert "A target counts as converted when its own runtime" in said(app)
    app.button("run-Convert").click()
    shown = said(settle(app))
    assert "TensorFlow ran it on 8 rows; its outputs are identical." in shown
    link = app.get("link_button")[0].proto
    assert "digits_saved_model.zip" in link.url
    assert "Download digits" in link.label
    assert app.code[-1].value.startswith("stethoscope convert digits.keras --to saved_model")

    app.button("keep-converted").click()
    assert "is among your models now" in said(settle(app))
    made = next(one for one in store().list(ME) if one.name == "digits_saved_model.zip")
    assert detect(made.file).id == "saved_model"

    app.session_state["target-family"] = "Frozen graph"
    app.run()
    assert "Not converted to Frozen graph yet" in said(app)
    app.button("run-Convert").click()
    assert "2 of 2 targets converted" in said(settle(app))

    fresh = AppTest.from_file(str(PROJECT / "dashboard" / "Home.py"), default_timeout=90)
    for name, value in app.query_params.items():
        fresh.query_params[name] = value
    fresh.run()
    fresh.switch_page("../pages/62_convert.py")
    assert "2 of 2 targets converted" in said(settle(fresh))
    assert fresh.dataframe[0].value["Result"].tolist() == ["converted", "converted"]
    assert fresh.get("link_button")[0].proto.url.endswith("/digits.pb")


def test_a_conversion_is_cancelled(app, digits):
    open_page(app, "convert", digits, to="tflite")
    app.button("run-Convert").click()
    app.run()
    next(button for button in app.button if (button.key or "").startswith("cancel-page")).click()
    app.run()
    assert "This run was cancelled" in text(settle(app))


def test_a_converter_that_dies_says_so_and_what_to_do(app, engine):
    entry = store().add_file(BUILT / "bert_small.keras", "bert.keras", ME)
    open_page(app, "convert", entry, to="tflite")
    app.button("run-Convert").click()
    app.run()
    end_the_converter(engine, signal.SIGKILL)
    shown = said(settle(app))
    assert "SIGKILL" in shown and "Nothing else was affected." in shown
    assert "Convert it once more." in shown
    assert "Not tried yet: ONNX" in shown


def test_of_many_conversions_the_sidebar_shows_a_few(app, digits):
    open_page(app, "convert", digits)
    app.button("run-all").click()
    app.run()
    assert sum(key.startswith("cancel-side") for key in keys(app)) == 3
    assert re.search(r"^and \d more$", said(app), re.M)
    app.button("cancel-page-all").click()
    settle(app)


def test_a_failure_names_the_operator_its_layer_and_what_works(app, tmp_path):
    graph = dense()
    node(graph, "spectrum/odd", "Digamma", ["y"], T=FLOAT)
    (tmp_path / "odd.pb").write_bytes(graph.SerializeToString())
    app = open_page(app, "convert", store().add_file(tmp_path / "odd.pb", "odd.pb", ME), to="onnx")
    app.button("run-Convert").click()
    shown = said(settle(app))
    assert "ONNX lacks 1 operator of this model" in shown
    assert "`Digamma` in layer `spectrum/odd`" in shown
    links = [one.proto for one in app.get("page_link") if one.proto.label.startswith("Show this layer")]
    assert [("layer=spectrum%2Fodd" in link.query_string) for link in links] == [True]
    assert "Not tried yet: TFLite (float32)" in shown


def test_code_in_a_file_is_not_converted_before_its_owner_said_yes(app, engine):
    entry = store().add_file(BUILT / "lambda_layer.keras", "lambda.keras", OTHER)
    engine.wait(analysis.describe(entry).id, 60)
    app = open_page(app, "convert", entry)
    assert "Only the owner" in said(app)
    assert app.button("run-Convert").disabled
    assert app.button("run-all").disabled
