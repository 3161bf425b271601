"""The box for an error message on the first page."""

from __future__ import annotations

import re

from tests.dashboard.visiting import HOSTILE, add, open_page, settle, text
from tests.pasted.reading.test_explaining import LOG, PLAIN
from tests.small_models import tiny_onnx

BOX = "pasted-text"
MARKUP = re.compile(r"(?<!\\)<img")


def pasted(app, words: str):
    open_page(app, "overview")
    app.text_area(key=BOX).set_value(words)
    next(button for button in app.button if button.label == "Explain").click()
    return settle(app)


def codes(app) -> list[str]:
    return [block.value for block in app.code]


def test_it_is_empty_at_first_and_has_an_example(app):
    open_page(app, "overview")
    assert not app.text_area(key=BOX).value and not app.code
    next(button for button in app.button if "example" in button.label).click()
    settle(app)
    assert "dense_2" in app.text_area(key=BOX).value and codes(app)


def test_a_message_becomes_a_card_that_leads_to_the_proof(app):
    shown = text(pasted(app, PLAIN))
    assert "certain" in shown and "line 31" in shown.replace("\\", "") and "github" in shown
    assert any(code.startswith("stethoscope check") for code in codes(app))


def test_what_is_not_known_is_said(app):
    assert "not known" in text(pasted(app, "ValueError: moon"))


def test_what_is_pasted_stays_text(app):
    shown = text(pasted(app, PLAIN.replace("dense_2", HOSTILE.replace('"', ""))))
    assert "javascript:alert" not in shown and not MARKUP.search(shown)
    assert not app.query_params.get("message")


def test_a_link_opens_a_kind_and_one_to_no_kind_says_so(app):
    open_page(app, "overview", message="label-range")
    assert codes(app)
    app.query_params["message"] = HOSTILE
    assert not MARKUP.search(text(settle(app))) and not codes(app)


def test_it_is_there_beside_a_model_too(app, tmp_path):
    open_page(app, "overview", add(tmp_path, tiny_onnx))
    app.text_area(key=BOX).set_value(LOG + PLAIN)
    next(button for button in app.button if button.label == "Explain").click()
    assert "certain" in text(settle(app)) and "AVX" not in text(app)
