"""The page Parity on real models and real comparisons."""

from __future__ import annotations

import pytest

from dashboard import analysis
from sample_models import BUILT
from stethoscope.jobs.store import store
from tests.dashboard.visiting import ME, OTHER, add, badges, cancel, keys, open_page, said, settle, visitor
from tests.small_models import endless_onnx
from tests.waiting import until


@pytest.fixture
def digits(app):
    return store().add_file(BUILT / "digits_cnn.keras", "digits.keras", ME)


@pytest.fixture
def exported(app):
    return store().add_file(BUILT / "digits_cnn.onnx", "digits.onnx", ME)


@pytest.fixture
def on_the_phone(app):
    return store().add_file(BUILT / "digits_cnn.tflite", "digits.tflite", ME)


def test_without_another_model_the_page_says_what_to_choose(app, digits):
    open_page(app, "parity", digits)
    assert app.multiselect[0].value == []
    assert app.button("run-Compare").disabled


def test_two_models_are_compared_reopened_by_link_and_coloured_in_architecture(live_engine, app, digits, exported):
    open_page(app, "parity", digits, other=exported.id)
    app.button("run-Compare").click()
    shown = said(settle(app))
    assert badges(app) == {"Within tolerance": "green"}
    assert "digits.onnx" in shown
    assert app.get("plotly_chart")
    assert app.code[-1].value == "stethoscope compare digits.keras digits.onnx --rows 32"

    link = {name: app.query_params[name] for name in ("model", "job")}
    fresh = visitor("parity", **link)
    assert badges(fresh) == badges(app)
    assert fresh.multiselect[0].value == [exported.id]

    graph = visitor("architecture", model=digits.id, colour="parity")
    assert graph.selectbox("colour").value == "parity"


def test_several_models_are_a_row_each_and_one_of_them_is_looked_at(app, digits, exported, on_the_phone):
    open_page(app, "parity", digits, other=f"{exported.id},{on_the_phone.id}")
    app.button("run-Compare").click()
    settle(app)
    assert app.dataframe[0].value["Other model"].tolist() == ["digits.onnx", "digits.tflite"]
    assert "2 of 2" in said(app)
    app.session_state["versus"] = on_the_phone.id
    assert "digits.tflite answers as" in said(settle(app))
    assert app.query_params["versus"] == on_the_phone.id


def test_models_of_another_kind_are_a_sentence(app, digits):
    wine = store().add_file(BUILT / "wine_keras2.keras", "wine.keras", ME)
    open_page(app, "parity", digits, other=wine.id)
    app.button("run-Compare").click()
    assert any("not fit" in label for label in badges(settle(app)))


def test_code_in_the_other_file_is_not_run_before_its_owner_said_yes(app, engine, digits):
    entry = store().add_file(BUILT / "lambda_layer.keras", "lambda.keras", OTHER)
    engine.wait(analysis.describe(entry).id, 60)
    open_page(app, "parity", digits, other=entry.id)
    assert "lambda.keras" in said(app).split("`")
    assert app.button("run-Compare").disabled


def test_a_comparison_is_cancelled_and_leaves_no_recording(app, engine, tmp_path):
    before = {state.id for state in engine.jobs() if state.kind == "record"}
    endless = add(tmp_path, endless_onnx)
    open_page(app, "parity", endless, other=store().add_file(endless.path, "other.onnx", ME).id)
    app.button("run-Compare").click()
    assert badges(cancel(app)) == {"Cancelled": "gray"}
    assert "run-Compare" in keys(app)
    until(lambda: {state.id for state in engine.jobs() if state.kind == "record"} <= before)


def test_another_link_changes_what_is_chosen_already(app, digits, exported, on_the_phone):
    open_page(app, "parity", digits, other=exported.id)
    assert app.multiselect[0].value == [exported.id]
    app.query_params["other"] = on_the_phone.id
    app.run()
    assert app.multiselect[0].value == [on_the_phone.id] and app.query_params["other"] == on_the_phone.id
    app.multiselect[0].set_value([exported.id, on_the_phone.id]).run()
    assert app.query_params["other"] == f"{exported.id},{on_the_phone.id}"
    app.multiselect[0].set_value([]).run()
    assert app.multiselect[0].value == [] and "other" not in app.query_params


def test_a_model_is_compared_with_itself_run_in_another_way(app, digits):
    open_page(app, "parity", digits)
    ways = next(one for one in app.multiselect if one.key == "ways")
    ways.set_value(["way-call-predict", "way-threads-1"]).run()
    app.button("run-Compare").click()
    shown = said(settle(app))
    assert "2 of 2" in shown
    assert app.query_params["ways"] == "way-call-predict,way-threads-1"
    assert "stethoscope compare digits.keras --way call=predict --rows 32" in [one.value for one in app.code]
    fresh = visitor("parity", **{name: app.query_params[name] for name in ("model", "job")})
    assert "2 of 2" in said(fresh)
