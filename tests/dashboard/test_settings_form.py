"""Settings of a run: what TensorFlow refuses is said before running, with the nearest that work, and as code."""

from __future__ import annotations

import ast

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.cost import devices_parts
from stethoscope import devices
from stethoscope.devices import Machine
from stethoscope.memory.run_settings import RunSettings
from tests.dashboard.visiting import text

BARE = Machine("a processor", 2, None, 8 << 30, 4 << 30, None, (), "There is no driver.")


def form() -> None:
    import streamlit as st

    from dashboard import settings_form
    from dashboard.cost import devices_parts
    from stethoscope.devices import this_machine
    from stethoscope.types import Architecture, TensorSpec

    spec = TensorSpec("x", (None, 4), "float32")
    model = Architecture("keras", "Keras 3.15.1", 16, 16, (spec,), (spec,), ())
    st.number_input("Memory limit (MiB)", 16, 4096, 4096, key="limit")
    chosen = settings_form.draw(32, model)
    if chosen is not None:
        here = this_machine()
        hindering = settings_form.objections(chosen, here, tensorflow=True, most_mebibytes=4096)
        st.caption("refused" if hindering else "runs")
        st.caption(settings_form.in_words(chosen))
        devices_parts.code("model.keras", model, chosen, here)


@pytest.fixture
def app(workspace, monkeypatch) -> AppTest:
    monkeypatch.setattr(devices, "this_machine", lambda: BARE)
    return AppTest.from_function(form, default_timeout=90).run()


def test_plain_settings_run_and_their_code_is_python(app):
    assert "runs" in text(app)
    assert "32 rows, model.predict" in text(app).replace("\\", "")
    ast.parse(app.code[0].value)
    assert "the first operation" not in app.code[0].value


def test_growth_with_a_limit_is_refused_in_our_words_and_the_nearest_is_one_click_away(app):
    app.toggle("growth").set_value(True)
    app.text_input("card-limit").set_value("2GiB")
    shown = text(app.run())
    assert "exclude each other" in shown
    assert "no argument allow" in shown
    code = app.code[0].value
    assert "set_memory_growth" not in code  # what is printed is what TensorFlow accepts, on a machine with a card
    assert "memory_limit=2048" in code
    assert "# Not run" in code
    app.button("use-nearest").click()
    shown = text(app.run())
    assert "runs" in shown
    assert not app.toggle("growth").value
    assert app.number_input("limit").value == 2048  # the process's limit does what the card's would have done


def test_what_only_this_machine_lacks_is_written_all_the_same(app):
    app.selectbox("on").set_value("gpu")
    app.toggle("growth").set_value(True)
    assert "no GPU to" in text(app.run())
    assert "set_memory_growth(gpu, True)" in app.code[0].value
    assert "--gpus" in app.code[2].value
    assert "nvidia.com/gpu" in app.code[3].value


def test_a_value_that_is_none_is_a_sentence(app):
    app.text_input("card-limit").set_value("a lot")
    app.run()
    assert app.warning
    assert not app.code


def test_the_address_holds_choices_by_their_ids(app):
    app.selectbox("call").set_value("compiled")
    app.selectbox("precision").set_value("mixed_bfloat16")
    app.run()
    assert app.query_params["call"] in ("compiled", ["compiled"])
    fresh = AppTest.from_function(form, default_timeout=90)
    fresh.query_params["call"], fresh.query_params["precision"] = "compiled", "nonsense"
    fresh.run()
    assert fresh.selectbox("call").value == "compiled"
    assert fresh.selectbox("precision").value == "as saved"
    assert "precision" not in fresh.query_params


def test_settings_accepted_anywhere_stay_as_they_are():
    plain = RunSettings(device="gpu", memory_growth=True)
    assert devices_parts.put_right(plain, BARE) == plain
    xla = devices_parts.put_right(RunSettings(call="call", xla=True), BARE)
    assert xla.call == "compiled"
